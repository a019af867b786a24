/**
 * A model's Markdown as vnodes. The lexer of `marked` reads it; every token becomes an element of ours or plain text, HTML is shown as the text
 * it is, images become links, and only http, https and mailto addresses become links at all. No HTML string exists at any moment. The only importer
 * of `marked`. Proven by `render_test.tsx`.
 */
import { Lexer, type MarkedToken, type Token, type Tokens } from "marked";
import type { ComponentChildren, VNode } from "preact";
import { printable } from "../../lib/printable.ts";

/** Nesting beyond this is shown as text: hostile input must not overflow the stack. */
const MAX_DEPTH = 24;
const LINKABLE = new Set(["http:", "https:", "mailto:"]);

/** Renders `text`; never throws. */
export function Markdown({ text }: { readonly text: string }): VNode {
  return <div class="markdown">{blocks(lexed(text), 0)}</div>;
}

/** The address when a link may lead there, else undefined. */
export function safeHref(href: string): string | undefined {
  const url = URL.parse(href.trim());
  return url !== null && LINKABLE.has(url.protocol) ? url.href : undefined;
}

function lexed(text: string): readonly Token[] {
  try {
    return new Lexer({ gfm: true, breaks: true }).lex(text);
  } catch {
    // The lexer gives up on absurd nesting; the text is still the text.
    return [{ type: "text", raw: text, text }];
  }
}

function blocks(tokens: readonly Token[] | undefined, depth: number): ComponentChildren {
  if (depth > MAX_DEPTH) return tokens?.map((token) => printable(token.raw));
  // The lexer has no extensions here, so it only makes its own tokens.
  return tokens?.map((token, index) => <Block key={index} token={token as MarkedToken} depth={depth} />);
}

interface BlockProps {
  readonly token: MarkedToken;
  readonly depth: number;
}

function Block({ token, depth }: BlockProps): ComponentChildren {
  const inner = depth + 1;
  switch (token.type) {
    case "space":
    case "def":
      return null;
    case "hr":
      return <hr />;
    case "heading":
      return <Heading depth={token.depth}>{blocks(token.tokens, inner)}</Heading>;
    case "paragraph":
      return <p>{blocks(token.tokens, inner)}</p>;
    case "blockquote":
      return <blockquote>{blocks(token.tokens, inner)}</blockquote>;
    case "code":
      return <pre tabIndex={0}><code>{printable(token.text)}</code></pre>;
    case "list":
      return <List token={token} depth={inner} />;
    case "list_item":
      return <li>{blocks(token.tokens, inner)}</li>;
    case "checkbox":
      return (
        <input
          type="checkbox"
          checked={token.checked}
          disabled
          aria-label={token.checked ? "done" : "open"}
        />
      );
    case "table":
      return <Table token={token} depth={inner} />;
    case "strong":
      return <strong>{blocks(token.tokens, inner)}</strong>;
    case "em":
      return <em>{blocks(token.tokens, inner)}</em>;
    case "del":
      return <del>{blocks(token.tokens, inner)}</del>;
    case "codespan":
      return <code>{printable(token.text)}</code>;
    case "br":
      return <br />;
    case "link":
      return <Link href={token.href}>{blocks(token.tokens, inner)}</Link>;
    case "image":
      return (
        <Link href={token.href}>{token.text === "" ? printable(token.href) : printable(token.text)}</Link>
      );
    case "escape":
      return printable(token.text);
    case "text":
      return "tokens" in token && token.tokens ? blocks(token.tokens, inner) : printable(decoded(token.text));
    case "html":
      return printable(token.raw);
    default:
      token satisfies never;
      return null;
  }
}

/** Headings of an answer stand below those of the page. */
function Heading(
  { depth, children }: { readonly depth: number; readonly children: ComponentChildren },
): VNode {
  if (depth === 1) return <h3>{children}</h3>;
  return depth === 2 ? <h4>{children}</h4> : <h5>{children}</h5>;
}

function Link({ href, children }: { readonly href: string; readonly children: ComponentChildren }): VNode {
  const safe = safeHref(href);
  if (safe === undefined) return <span class="dead-link" title={printable(href)}>{children}</span>;
  return <a href={safe} rel="noopener noreferrer nofollow" target="_blank">{children}</a>;
}

function List({ token, depth }: { readonly token: Tokens.List; readonly depth: number }): VNode {
  const items = blocks(token.items, depth);
  if (!token.ordered) return <ul>{items}</ul>;
  return <ol start={token.start === "" ? 1 : token.start}>{items}</ol>;
}

function Table({ token, depth }: { readonly token: Tokens.Table; readonly depth: number }): VNode {
  return (
    <div class="table-scroll" tabIndex={0}>
      <table>
        <thead>
          <tr>
            {token.header.map((cell, index) => <th key={index} scope="col">{blocks(cell.tokens, depth)}</th>)}
          </tr>
        </thead>
        <tbody>
          {token.rows.map((row, index) => (
            <tr key={index}>
              {row.map((cell, column) => <td key={column}>{blocks(cell.tokens, depth)}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: " ",
  hellip: "…",
  mdash: "—",
  ndash: "–",
};

/** The entities that models write; anything else stays as it is. */
function decoded(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return ENTITIES[name] ?? whole;
    const point = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
