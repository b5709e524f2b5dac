import { isObject } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/arguments.ts';
import type { JsonObject } from '../upstream/upstream.ts';

/** Larger structured content is not validated, and therefore refused. */
const MAX_CHECKED_OUTPUT_LENGTH = 1024 * 1024;

/**
 * BLOCK_OUTPUT_INVALID unless the structured content matches the tool's output schema, because later steps rely on it. A result
 * with `isError` needs no structured content. Content that is too large or too deep to validate is refused.
 */
export function requireOutput(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  outputSchema: JsonObject | undefined,
  { result }: { readonly result: JsonObject },
): void {
  if (outputSchema === undefined || result['isError'] === true) return;
  const { structuredContent } = result;
  if (structuredContent === undefined) {
    const message = 'The tool declares an output schema, but the result has no structured content.';
    const errors = [{ path: 'structuredContent', code: 'missing', message }];
    throw new GatewayError('BLOCK_OUTPUT_INVALID', { errors });
  }
  const errors = validator.validate(tool, outputSchema, structuredContent, MAX_CHECKED_OUTPUT_LENGTH);
  if (!errors) return;
  // The validator's messages are about arguments.
  const replaceSubject = (text: string) =>
    text
      .replace(/^arguments/, 'structuredContent')
      .replace(/^The arguments are/, 'The structured content is');
  throw new GatewayError('BLOCK_OUTPUT_INVALID', {
    errors: errors.map((error) => ({
      ...error,
      path: replaceSubject(error.path),
      message: replaceSubject(error.message),
    })),
  });
}

/** The output that later steps read: the structured content, otherwise the text as JSON object or array, otherwise the text. */
export function readStepOutput({ structuredContent, content }: JsonObject): unknown {
  if (structuredContent !== undefined) return structuredContent;
  const texts = (Array.isArray(content) ? content : []).flatMap((item: unknown) =>
    isObject(item) && item['type'] === 'text' && typeof item['text'] === 'string' ? [item['text']] : [],
  );
  const text = texts.join('\n');
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

const ARRAY_INDEX = /^(0|[1-9][0-9]*)$/;

/** Evaluates a JSON pointer (RFC 6901). Undefined if there is no value. Inherited properties are not reachable. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      if (!ARRAY_INDEX.test(name)) return undefined;
      value = value[Number(name)] as unknown;
    } else {
      if (!isObject(value) || !Object.hasOwn(value, name)) return undefined;
      value = value[name];
    }
  }
  return value;
}
