/**
 * The built UI. Every path that is no file and no API is a screen of the app, so it gets the index. Proven by `edge/app_test.ts`.
 */
import { type Context, Hono } from "hono";
import type { EdgeEnv } from "../deps.ts";
import type { UiFile, UiFiles } from "../ui_files.ts";

const INDEX = "/index.html";

/** `GET *` and, by Hono, `HEAD *`. */
export function staticRoutes(files: UiFiles): Hono<EdgeEnv> {
  const app = new Hono<EdgeEnv>();

  app.get("*", (c) => {
    const path = c.req.path === "/" ? INDEX : c.req.path;
    const isScreen = !/\.[a-z0-9]+$/i.test(path) && !path.startsWith("/api/") && !path.startsWith("/zulip/");
    const file = files.get(path) ?? (isScreen ? files.get(INDEX) : undefined);
    return file ? sendFile(c, file) : c.notFound();
  });

  return app;
}

function sendFile(c: Context<EdgeEnv>, file: UiFile): Response {
  c.header("ETag", file.etag);
  c.header("Cache-Control", file.immutable ? "public, max-age=31536000, immutable" : "no-cache");
  const known = c.req.header("if-none-match")?.split(",").map((tag) => tag.trim().replace(/^W\//, "")) ?? [];
  if (known.includes(file.etag)) return c.body(null, 304);
  return c.body(file.body, 200, { "Content-Type": file.type });
}
