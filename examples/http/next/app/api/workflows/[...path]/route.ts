import { app } from "../../../../workflows.ts";

export const dynamic = "force-dynamic";

const handle = (request: Request): Promise<Response> => app.fetch(request);

export { handle as GET, handle as HEAD, handle as OPTIONS, handle as POST };
