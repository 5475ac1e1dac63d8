#include <mortise.h>
#include <stdio.h>

int main(void) {
    mortise_config* config = NULL;
    mortise_node* node = NULL;
    mortise_hold* hold = NULL;
    mortise_error* error = NULL;
    if (mortise_config_in_memory(&config, &error) != MORTISE_OK ||
        mortise_node_open(config, &node, &error) != MORTISE_OK ||
        mortise_node_acquire(node, "consume", 7, NULL, &hold, &error) != MORTISE_OK) {
        printf("%s\n", mortise_error_message(error, NULL));
        return 1;
    }
    printf("held %s with token %lld\n", mortise_hold_name(hold, NULL),
           (long long)mortise_hold_token(hold));
    const int is_valid = mortise_hold_valid(hold);
    const int code = mortise_hold_release(hold, NULL);
    mortise_hold_free(hold);
    mortise_node_free(node);
    mortise_config_free(config);
    return is_valid && code == MORTISE_OK ? 0 : 1;
}
