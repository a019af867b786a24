/**
 * A small validator for Zulip's OpenAPI file.
 *
 * Zulip writes closed objects as `allOf: [base, {additionalProperties: false, properties: {every name: {}}}]`, which plain JSON Schema would refuse, so
 * `allOf` branches are merged into one object first. Covers what that file uses: types, enums, properties, required, additionalProperties, items, oneOf,
 * anyOf, nullable. Complaints are paths and reasons. Proved by `fake_zulip_test.ts`, which also shows that it refuses wrong answers.
 */

type Json = Record<string, unknown>;

export interface ZulipApiSpec {
  /** What is wrong with the body of an answer to `op` (`POST /messages`). Throws for an unknown operation. */
  checkResponse(op: string, status: number, body: unknown): string[];
  /** What is wrong with one element of `events`. */
  checkEvent(event: unknown): string[];
}

export function openApi(doc: unknown): ZulipApiSpec {
  const resolved = new Map<string, Json>();

  function follow(ref: string): Json {
    const known = resolved.get(ref);
    if (known) return known;
    const target = ref.slice(2).split("/").reduce<unknown>((at, key) => objectOf(at)[key], doc);
    const schema = normalise(objectOf(target));
    resolved.set(ref, schema);
    return schema;
  }

  /** Without `$ref` and `allOf` at this level. */
  function normalise(schema: Json): Json {
    if (typeof schema["$ref"] === "string") return follow(schema["$ref"]);
    const { allOf, ...rest } = schema;
    return listOf(allOf).map((part) => normalise(objectOf(part))).concat(rest).reduce(merge, {});
  }

  function merge(a: Json, b: Json): Json {
    const properties: Json = { ...objectOf(a["properties"]) };
    for (const [name, value] of Object.entries(objectOf(b["properties"]))) {
      properties[name] = name in properties
        ? merge(normalise(objectOf(properties[name])), normalise(objectOf(value)))
        : value;
    }
    const required = [...listOf(a["required"]), ...listOf(b["required"])];
    return {
      ...a,
      ...b,
      ...(Object.keys(properties).length > 0 ? { properties } : {}),
      ...(required.length > 0 ? { required } : {}),
    };
  }

  function check(raw: unknown, value: unknown, at: string): string[] {
    const schema = normalise(objectOf(raw));
    if (value === null && schema["nullable"] === true) return [];
    const complaints = [...checkType(schema, value, at), ...checkAlternatives(schema, value, at)];
    if (complaints.length > 0) return complaints;
    if (Array.isArray(value)) {
      return "items" in schema ? value.flatMap((item, n) => check(schema["items"], item, `${at}[${n}]`)) : [];
    }
    return typeof value === "object" && value !== null ? checkObject(schema, objectOf(value), at) : [];
  }

  function checkType(schema: Json, value: unknown, at: string): string[] {
    const { type } = schema;
    if (typeof type === "string" && !hasType(type, value)) return [`${at}: not a ${type}`];
    if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value)) {
      return [`${at}: ${value} not in the enum`];
    }
    return [];
  }

  function checkAlternatives(schema: Json, value: unknown, at: string): string[] {
    for (const key of ["oneOf", "anyOf"]) {
      const all = listOf(schema[key]).map((alternative) => check(alternative, value, at));
      if (all.length > 0) return all.reduce((best, next) => next.length < best.length ? next : best);
    }
    return [];
  }

  function checkObject(schema: Json, value: Json, at: string): string[] {
    const properties = objectOf(schema["properties"]);
    const missing = listOf(schema["required"]).filter((name) => !(String(name) in value));
    const extra = schema["additionalProperties"];
    return [
      ...missing.map((name) => `${at}: ${name} is missing`),
      ...Object.entries(value).flatMap(([name, item]) => {
        if (name in properties) return check(properties[name], item, `${at}.${name}`);
        if (extra === false) return [`${at}: ${name} is not in the specification`];
        return typeof extra === "object" ? check(extra, item, `${at}.${name}`) : [];
      }),
    ];
  }

  function responseSchema(op: string, status: number): unknown {
    const [method = "", path = ""] = op.split(" ");
    const operation = objectOf(objectOf(objectOf(objectOf(doc)["paths"])[path])[method.toLowerCase()]);
    const responses = objectOf(operation["responses"]);
    if (Object.keys(responses).length === 0) {
      throw new RangeError(`'op' is not in the specification: "${op}"`);
    }
    const content = objectOf(normalise(objectOf(responses[String(status)]))["content"]);
    const schema = objectOf(content["application/json"])["schema"];
    // Any call may also fail in the ways that the document's general part describes.
    return status < 400 ? schema : { oneOf: [...(schema ? [schema] : []), ...GENERAL_ERRORS] };
  }

  const events = findEvents(responseSchema("GET /events", 200));

  function findEvents(raw: unknown): Json[] {
    const schema = normalise(objectOf(raw));
    const list = normalise(objectOf(objectOf(schema["properties"])["events"]));
    const item = normalise(objectOf(list["items"]));
    return [...listOf(item["oneOf"]), ...listOf(item["anyOf"])].map((event) => normalise(objectOf(event)));
  }

  return {
    checkResponse: (op, status, body) => check(responseSchema(op, status), body, op),
    checkEvent(event) {
      const { type, op } = objectOf(event);
      const allows = (schema: Json, name: string, value: unknown) => {
        const property = objectOf(schema["properties"])[name];
        return property !== undefined && checkType(normalise(objectOf(property)), value, name).length === 0;
      };
      const candidates = events.filter((schema) =>
        allows(schema, "type", type) && (op === undefined || allows(schema, "op", op))
      );
      const results = candidates.map((schema) => check(schema, event, `${type}${op ? `/${op}` : ""}`));
      return results.reduce(
        (best, next) => next.length < best.length ? next : best,
        results[0] ?? [`${type}: no such event`],
      );
    },
  };
}

function hasType(type: string, value: unknown): boolean {
  switch (type) {
    case "integer":
      return Number.isInteger(value);
    case "array":
      return Array.isArray(value);
    case "object":
      return typeof value === "object" && value !== null && !Array.isArray(value);
    case "number":
      return typeof value === "number";
    case "boolean":
      return typeof value === "boolean";
    default:
      return typeof value === "string";
  }
}

const GENERAL_ERRORS = ["CodedError", "NonExistingChannelIdError", "RateLimitedError"]
  .map((name) => ({ $ref: `#/components/schemas/${name}` }));

/** An object's fields; nothing for anything else. */
function objectOf(value: unknown): Json {
  // A non-null object that is no array has string keys and unknown values.
  return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Json : {};
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}
