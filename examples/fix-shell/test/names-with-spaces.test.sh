mkdir files && touch -d '2026-01-01' 'files/my notes' && touch -d '2026-01-02' 'files/b'
rotate.sh files 1
[ "$(ls files)" = "b" ]
