/**
 * Every tool that is offered at this moment: the built-in ones and those of MCP servers that are up. Tells one listener when that changes.
 * Proven by `gateway_test.ts`.
 */
import type { KnownTool } from "../protocol/tools.ts";
import type { Tool } from "./tool.ts";

/** Tools by name; a server's tools come and go together. */
export class Registry {
  readonly #sources = new Map<string, ReadonlyMap<string, Tool>>();

  constructor(private readonly changed: () => void) {}

  /** Replaces what a source (`builtin`, `mcp:<server>`) offers. An empty list withdraws it. */
  set(source: string, tools: readonly Tool[]): void {
    const before = JSON.stringify(this.known());
    if (tools.length === 0) this.#sources.delete(source);
    else this.#sources.set(source, new Map(tools.map((tool) => [tool.spec.name, tool])));
    if (JSON.stringify(this.known()) !== before) this.changed();
  }

  find(name: string): Tool | undefined {
    for (const tools of this.#sources.values()) {
      const tool = tools.get(name);
      if (tool) return tool;
    }
    return undefined;
  }

  /** What is offered, built-in tools first; each name once, as `find` would find it. */
  known(): KnownTool[] {
    const found = new Map<string, KnownTool>();
    for (const tools of this.#sources.values()) {
      for (const [name, tool] of tools) if (!found.has(name)) found.set(name, tool.spec);
    }
    return [...found.values()];
  }
}
