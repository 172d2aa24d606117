// The servers we know, a pooler, and the browser. Each file says where its programs are; those of servers also say how the data is
// created, how it is started safely or fast, and how one sees that it is ready.
import { chromium } from "./chromium.mjs";
import { mysql } from "./mysql.mjs";
import { pgbouncer } from "./pgbouncer.mjs";
import { postgres } from "./postgres.mjs";
import { redis } from "./redis.mjs";

export const kinds = { postgres, mysql, redis, pgbouncer, chromium };
