import type { IncomingHttpHeaders } from 'node:http';
import type { CatalogTool, JsonObject } from '@behalf/gateway';
import type { Asked } from './asked.ts';
import { mismatch } from './era.ts';
import { decodeHeaderValue } from './headerValue.ts';

type Mirror = NonNullable<CatalogTool['mirror']>;

/** What a tool wants repeated in headers has to be there and to be the same. Decided is by the body alone. */
export function checkParams({ headers }: Pick<Asked, 'headers'>, mirror: Mirror, args: JsonObject): void {
  for (const [name, encoded] of Object.entries(mirror(args))) {
    const said = headers[name];
    if (typeof said !== 'string') throw mismatch(`${name} is missing`);
    const value = decodeHeaderValue(encoded);
    const given = decodeHeaderValue(said);
    if (given === undefined) throw mismatch(`${name} is not encoded as it should be`);
    if (given !== value && !sameNumber(given, value)) throw mismatch(`${name} is not what the body says`);
  }
  // Somebody may have acted on it already, and the server would act on something else.
  for (const name of mirror.listAbsent(args))
    if (headers[name] !== undefined) throw mismatch(`${name} repeats an argument that is not there`);
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function sameNumber(one: string, other = ''): boolean {
  return DECIMAL.test(one) && DECIMAL.test(other) && Number(one) === Number(other);
}

/** A token after the prefix (RFC 9110, section 5.6.2), in the lower case of Node. */
const NAME = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** What a value of these may consist of; base64 is of it too. */
const VALUE = /^[\x20-\x7e\t]*$/;
const MOST = 32;
const LONGEST = 4_096;

/**
 * The `mcp-param-*` of a request, to be sent on where a tool does not know them. By their prefix they are nothing else: no
 * credential, and nothing that the protocol itself or what carries it reads. What could not be one, or is too much, stays here.
 */
export function sentParams(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  let found: Record<string, string> | undefined;
  let room = MOST;
  for (const name in headers) {
    if (!name.startsWith('mcp-param-')) continue;
    const value = headers[name];
    if (typeof value !== 'string' || value.length > LONGEST || !NAME.test(name) || !VALUE.test(value))
      continue;
    if (room <= 0) break;
    room -= 1;
    found = { ...found, [name]: value };
  }
  return found;
}
