module intermission-ads

go 1.19
