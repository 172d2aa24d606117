// The servers we know. Each file says where its programs are, how its data is created, how it is started safely or
// fast, and how one sees that it is ready.
import { mysql } from "./mysql.mjs";
import { postgres } from "./postgres.mjs";
import { redis } from "./redis.mjs";

export const kinds = { postgres, mysql, redis };
