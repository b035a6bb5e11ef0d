# Completion of martlet-receive(1) for fish. Made from the option table; see "make docs". Do not edit.

complete -c martlet-receive -f
complete -c martlet-receive -l listen -x -d 'where to listen; default 127.0.0.1:0, for this machine alone; port 0 takes a free one, the same for DIR each time if it can'
complete -c martlet-receive -l token-file -r -F -d 'clients must send this file\'s first line as Authorization: Bearer; MARTLET_RECEIVE_TOKEN does the same; with neither a token is made and kept, which martlet upload of the same user finds by itself'
complete -c martlet-receive -l open -d 'ask for no token: anybody who reaches the address may read and write'
complete -c martlet-receive -l no-token -d 'the old name of --open'
complete -c martlet-receive -l host -x -d 'answer to this name, too: of a proxy in front, or of a forwarded port'
complete -c martlet-receive -l tls-cert -r -F -d 'speak https with this certificate (PEM)'
complete -c martlet-receive -l tls-key -r -F -d 'the certificate\'s private key (PEM)'
complete -c martlet-receive -l max-size -x -d 'refuse files that are larger than this; without it any size is taken'
complete -c martlet-receive -l keep-free -x -d 'leave this much room on the disk, also while bytes arrive; default 64M'
complete -c martlet-receive -l keep-unfinished -x -d 'forget an interrupted upload that nobody went on with for so long; default 7d'
complete -c martlet-receive -l version -d 'print the version and exit'
complete -c martlet-receive -s h -l help -d 'show this and exit'
complete -c martlet-receive -a '(__fish_complete_directories)'
