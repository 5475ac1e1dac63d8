/* Holds a lock. It runs alone and in memory; with a config of mortise_config_from_file() it would
 * be one process of a cluster. */
#include <mortise.h>
#include <stdio.h>

int main(void) {
    mortise_config* config = NULL;
    mortise_node* node = NULL;
    mortise_hold* hold = NULL;
    mortise_error* error = NULL;
    if (mortise_config_in_memory(&config, &error) == MORTISE_OK &&
        mortise_node_open(config, &node, &error) == MORTISE_OK &&
        mortise_node_acquire(node, "orders/42", 9, NULL, &hold, &error) == MORTISE_OK) {
        printf("orders/42 is ours, token %lld\n", (long long)mortise_hold_token(hold));
        /* ... work, as long as mortise_hold_valid(hold) */
    }
    const int code = mortise_error_code(error);
    if (code != MORTISE_OK) fprintf(stderr, "%s\n", mortise_error_message(error, NULL));
    mortise_error_free(error);
    mortise_hold_free(hold); /* releases it */
    mortise_node_free(node);
    mortise_config_free(config);
    return code == MORTISE_OK ? 0 : 1;
}
