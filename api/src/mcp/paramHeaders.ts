import type { IncomingHttpHeaders } from 'node:http';
import type { CatalogTool, JsonObject } from '@behalf/gateway';
import type { McpRequest } from './mcpRequest.ts';
import { headerMismatchFault } from './era.ts';
import { decodeHeaderValue } from './headerValue.ts';

type Mirror = NonNullable<CatalogTool['mirror']>;

/** What a tool wants repeated in headers has to be there and to be the same. Decided is by the body alone. */
export function checkParamHeaders(
  { headers }: Pick<McpRequest, 'headers'>,
  mirror: Mirror,
  args: JsonObject,
): void {
  for (const [name, encoded] of Object.entries(mirror(args))) {
    const headerValue = headers[name];
    if (typeof headerValue !== 'string') throw headerMismatchFault(`${name} is missing`);
    const value = decodeHeaderValue(encoded);
    const decoded = decodeHeaderValue(headerValue);
    if (decoded === undefined) throw headerMismatchFault(`${name} is not encoded correctly`);
    if (decoded !== value && !isSameNumber(decoded, value))
      throw headerMismatchFault(`${name} does not match the body`);
  }
  // Somebody may have acted on it already, and the server would act on something else.
  for (const name of mirror.listAbsent(args))
    if (headers[name] !== undefined)
      throw headerMismatchFault(`${name} repeats an argument that is not in the body`);
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

function isSameNumber(a: string, b = ''): boolean {
  return DECIMAL.test(a) && DECIMAL.test(b) && Number(a) === Number(b);
}

/** A token after the prefix (RFC 9110, section 5.6.2), in the lower case of Node. */
const NAME_PATTERN = /^mcp-param-[!#$%&'*+\-.^_`|~0-9a-z]{1,128}$/;
/** What a value of these may consist of; base64 is of it too. */
const VALUE_PATTERN = /^[\x20-\x7e\t]*$/;
const MAX_PARAMS = 32;
const MAX_VALUE_LENGTH = 4_096;

/**
 * The `mcp-param-*` of a request, to be sent on where a tool does not know them. By their prefix they are nothing else: no
 * credential, and nothing that the protocol itself or what carries it reads. What could not be one, or is too much, stays here.
 */
export function forwardedParams(headers: IncomingHttpHeaders): Readonly<Record<string, string>> | undefined {
  let params: Record<string, string> | undefined;
  let remaining = MAX_PARAMS;
  for (const name in headers) {
    if (!name.startsWith('mcp-param-')) continue;
    const value = headers[name];
    if (
      typeof value !== 'string' ||
      value.length > MAX_VALUE_LENGTH ||
      !NAME_PATTERN.test(name) ||
      !VALUE_PATTERN.test(value)
    )
      continue;
    if (remaining <= 0) break;
    remaining -= 1;
    params = { ...params, [name]: value };
  }
  return params;
}
