module example

go 1.19

require intermission-ads v0.0.0

replace intermission-ads => ../../clients/go
