# Completion of martletd(1) for fish. Made from the option table; see "make docs". Do not edit.

complete -c martletd -f
complete -c martletd -l check -d 'verify the queue, also beside a running engine, print what was found and exit'
complete -c martletd -l version -d 'print the version and exit'
complete -c martletd -s h -l help -d 'show this and exit'
