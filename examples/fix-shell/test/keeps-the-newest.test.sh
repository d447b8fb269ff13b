touch -d '2026-01-01' old && touch -d '2026-01-02' middle && touch -d '2026-01-03' new
mkdir files && mv old middle new files
rotate.sh files 2
ls files
[ "$(ls files | tr '\n' ' ')" = "middle new " ]
