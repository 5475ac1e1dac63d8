/* A cluster of three nodes, in C. Normally each is a process on its own machine; here they share
 * one process, so that nothing needs to be set up. Node 1 loses a lock to an operator, and node 2
 * gets it with a greater token. */
#include <arpa/inet.h>
#include <mortise.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { NODES = 3 };

static const char name[] = "leader of the day";
static const size_t name_length = sizeof name - 1;
static const int64_t second = 1000000000;

/* Ends the program if a call has failed. */
static void check(int code, mortise_error* error) {
    if (code == MORTISE_OK) return;
    fprintf(stderr, "%s: %s\n", mortise_code_name(code), mortise_error_message(error, NULL));
    mortise_error_free(error);
    exit(1);
}

/* Ports that are free at the moment. A real cluster has its addresses in a file. */
static void find_ports(int ports[NODES]) {
    int sockets[NODES];
    for (int i = 0; i < NODES; ++i) {
        struct sockaddr_in address = {.sin_family = AF_INET};
        socklen_t length = sizeof address;
        address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        sockets[i] = socket(AF_INET, SOCK_STREAM, 0);
        if (bind(sockets[i], (struct sockaddr*)&address, length) != 0 ||
            getsockname(sockets[i], (struct sockaddr*)&address, &length) != 0) {
            perror("a free port");
            exit(1);
        }
        ports[i] = ntohs(address.sin_port);
    }
    for (int i = 0; i < NODES; ++i)
        close(sockets[i]);
}

static mortise_node* open_node(int id, const int ports[NODES], const char* directory) {
    char toml[1024];
    const int length = snprintf(toml, sizeof toml,
                                "node_id = %d\nlisten = \"127.0.0.1:%d\"\ndata_dir = \"%s/%d\"\n"
                                "peer = [{ id = 1, address = \"127.0.0.1:%d\" },\n"
                                "        { id = 2, address = \"127.0.0.1:%d\" },\n"
                                "        { id = 3, address = \"127.0.0.1:%d\" }]\n",
                                id, ports[id - 1], directory, id, ports[0], ports[1], ports[2]);
    mortise_config* config = NULL;
    mortise_node* node = NULL;
    mortise_error* error = NULL;
    check(mortise_config_from_string(toml, (size_t)length, &config, &error), error);
    check(mortise_node_open(config, &node, &error), error);
    mortise_config_free(config);
    return node;
}

static atomic_int losses;

/* Runs on a thread of the node, as soon as the hold is lost: stop the work here. */
static void on_lost(void* context) {
    printf("%s: the lock is lost\n", (const char*)context);
    atomic_fetch_add(&losses, 1);
}

static int use(mortise_node* nodes[NODES]) {
    mortise_error* error = NULL;
    mortise_hold* hold = NULL;
    mortise_hold* other = NULL;
    mortise_acquire_options options = MORTISE_ACQUIRE_OPTIONS_INIT;
    options.label = "the C example";
    options.label_length = strlen(options.label);
    check(mortise_node_acquire(nodes[0], name, name_length, &options, &hold, &error), error);
    check(mortise_hold_on_lost(hold, on_lost, "node 1", NULL, &error), error);
    const int64_t token = mortise_hold_token(hold);
    printf("node 1 holds it, token %lld\n", (long long)token);

    /* Somebody else has it: that is no error. */
    check(mortise_node_try_acquire(nodes[1], name, name_length, NULL, &other, &error), error);
    printf("node 2 gets it: %s\n", other != NULL ? "yes" : "no, it is taken");

    check(mortise_node_break_lock(nodes[2], name, name_length, token, "demo", 4, &error), error);
    check(mortise_node_acquire_for(nodes[1], name, name_length, 30 * second, NULL, &other, &error),
          error);
    if (other == NULL) return 0;
    printf("node 2 holds it, token %lld\n", (long long)mortise_hold_token(other));
    const int is_right = mortise_hold_valid(other) && !mortise_hold_valid(hold) &&
                         mortise_hold_token(other) > token && atomic_load(&losses) == 1;
    check(mortise_hold_release(other, &error), error);
    mortise_hold_free(other);
    mortise_hold_free(hold);
    return is_right;
}

int main(void) {
    char directory[] = "/tmp/mortise-example-XXXXXX";
    int ports[NODES];
    mortise_node* nodes[NODES];
    mortise_error* error = NULL;
    if (mkdtemp(directory) == NULL) return 1;
    find_ports(ports);
    for (int i = 0; i < NODES; ++i)
        nodes[i] = open_node(i + 1, ports, directory);
    /* The first start bootstraps the cluster as soon as all three nodes run. */
    for (int i = 0; i < NODES; ++i)
        check(mortise_node_wait_ready(nodes[i], 30 * second, &error), error);
    const int is_right = use(nodes);
    for (int i = 0; i < NODES; ++i)
        mortise_node_free(nodes[i]);

    char command[64];
    snprintf(command, sizeof command, "rm -r %s", directory);
    return system(command) == 0 && is_right ? 0 : 1;
}
