/**
 * Steers a fake model server from another process.
 *
 * `POST /_control/replies` queues replies (a JSON list of lists of steps); `POST /_control/release` lets hanging
 * answers go on; `GET /_control/requests` lists what was asked, without headers.
 */

import * as z from "zod";
import type { FakeModel } from "./fake_model.ts";
import { Reply } from "./script.ts";

export async function handleControl(fake: FakeModel, pathname: string, request: Request): Promise<Response> {
  switch (`${request.method} ${pathname}`) {
    case "POST /_control/replies": {
      const replies = z.array(Reply).safeParse(await request.json());
      if (!replies.success) return Response.json({ error: z.prettifyError(replies.error) }, { status: 400 });
      fake.script(replies.data);
      return Response.json({ queued: replies.data.length });
    }
    case "POST /_control/release":
      fake.release();
      return Response.json({ released: true });
    case "GET /_control/requests":
      return Response.json(fake.requests.map(({ headers: _headers, ended: _ended, ...seen }) => seen));
    default:
      return Response.json({ error: "no such control" }, { status: 404 });
  }
}
