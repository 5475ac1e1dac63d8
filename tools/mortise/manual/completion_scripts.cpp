#include "tools/mortise/manual/completion_scripts.hpp"

namespace mortise::cli {

namespace {

// bash divides words at "=" and ":" as well, and replaces only the last part. The words are those
// of the line up to the cursor, divided at blanks alone; what bash does not replace is cut off.
constexpr std::string_view bash =
    R"(# Completion of mortise for bash: source <(mortise completion bash)
_mortise() {
    local line=${COMP_LINE:0:COMP_POINT} part=${COMP_WORDS[COMP_CWORD]} word kept answer
    local -a words
    read -ra words <<< "$line"
    [[ $line == *[[:blank:]] ]] && words+=("")
    word=${words[${#words[@]}-1]}
    [[ $part == [=:] ]] && part=
    [[ -n $word && $word == *"$part" ]] && kept=${word%"$part"}
    COMPREPLY=()
    while IFS= read -r answer; do
        case $answer in
            :file) compopt -o filenames; COMPREPLY+=($(compgen -f -- "$part")) ;;
            :directory) compopt -o filenames; COMPREPLY+=($(compgen -d -- "$part")) ;;
            :command) compopt -o filenames
                      COMPREPLY+=($(compgen -c -- "$part"; compgen -f -- "$part")) ;;
            :) ;;
            *) answer=${answer%%$'\t'*}; COMPREPLY+=("${answer#"$kept"}") ;;
        esac
    done < <("${words[0]}" complete -- "${words[@]:1}" 2> /dev/null)
}
complete -F _mortise mortise
)";

constexpr std::string_view zsh = R"(#compdef mortise
# Completion of mortise for zsh: mortise completion zsh > a file _mortise in a folder of $fpath
_mortise() {
    local answer more=: word
    local -a names texts
    while IFS= read -r answer; do
        case $answer in
            :*) more=$answer ;;
            *) word=${answer%%$'\t'*} answer=${answer#"$word"}
               names+=("$word")
               texts+=("$word${answer/$'\t'/ -- }") ;;
        esac
    done < <("$words[1]" complete -- "${(@)words[2,$CURRENT]}" 2> /dev/null)
    (( $#names )) && compadd -d texts -a names
    case $more in
        :file) compset -P '--*='; _files ;;
        :directory) compset -P '--*='; _files -/ ;;
        :command) _command_names; _files ;;
    esac
}
if [[ $funcstack[1] == _mortise ]]; then _mortise "$@"; else compdef _mortise mortise; fi
)";

constexpr std::string_view fish =
    R"(# Completion of mortise for fish: mortise completion fish | source
function __mortise_complete
    set -l words (commandline -opc) (commandline -ct)
    for answer in ($words[1] complete -- $words[2..-1] 2> /dev/null)
        switch $answer
            case ':file'
                __fish_complete_path (commandline -ct)
            case ':directory'
                __fish_complete_directories (commandline -ct)
            case ':command'
                __fish_complete_command
            case ':*'
            case '*'
                echo $answer
        end
    end
end
complete -c mortise -f -a '(__mortise_complete)'
)";

}  // namespace

std::string_view completion_script(std::string_view shell) {
    if (shell == "bash") return bash;
    if (shell == "zsh") return zsh;
    if (shell == "fish") return fish;
    return {};
}

}  // namespace mortise::cli
