/** What the files of a new project have in them. */

export const storeNames = ["sqlite", "postgres", "mysql", "redis"] as const;
export type StoreName = (typeof storeNames)[number];

/** The drivers, which the library loads only where they are used. */
export const drivers: Readonly<Record<StoreName, readonly [name: string, range: string] | null>> = {
  sqlite: null,
  postgres: ["pg", "^8.13.0"],
  mysql: ["mysql2", "^3.11.0"],
  redis: ["ioredis", "^5.4.0"],
};

export const sampleWorkflow = `import { defineWorkflow, type WorkflowEvent } from "everstep";

type Guest = { name?: string } | undefined;

export const hello = defineWorkflow({ name: "hello" }, async (event: WorkflowEvent<Guest>, step) => {
  const name = event.payload?.name ?? "world";
  const greeting = await step.do("greet", async () => \`Hello, \${name}!\`);
  await step.sleep("take a breath", "2 seconds"); // it goes on although the process may have died meanwhile
  return step.do("say goodbye", async () => \`\${greeting} Goodbye!\`);
});
`;

const addresses: Readonly<Record<StoreName, string>> = {
  sqlite: '"workflows.db"',
  postgres: 'process.env.DATABASE_URL ?? "postgres://localhost/app"',
  mysql: 'process.env.DATABASE_URL ?? "mysql://localhost/app"',
  redis: 'process.env.REDIS_URL ?? "redis://localhost"',
};

/** The app for production; `everstep dev` needs none. */
export function sampleApp(store: StoreName, workflowsFile: string): string {
  return `import { bearerToken, createWorkflows } from "everstep";
import { ${store} } from "everstep/${store}";
import { hello } from "./${workflowsFile}";

// For production: EVERSTEP_TOKEN=$(openssl rand -hex 32) npx everstep serve app${endingOf(workflowsFile)}
export const app = createWorkflows({
  workflows: { hello },
  store: ${store}(${addresses[store]}),
  authorize: bearerToken(process.env.EVERSTEP_TOKEN),
});
`;
}

export function endingOf(file: string): string {
  return file.slice(file.lastIndexOf("."));
}

/** Node runs the files as they are; the compiler only checks them. */
export const tsconfig = `{
  "compilerOptions": {
    "target": "es2023",
    "lib": ["es2023"],
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noEmit": true,
    "skipLibCheck": true,
    "allowImportingTsExtensions": true,
    "erasableSyntaxOnly": true,
    "verbatimModuleSyntax": true
  }
}
`;

/** What the tsconfig needs. */
export const typeTools = { "@types/node": "^24.0.0", typescript: ">=5.8" } as const;
