import { GatewayError } from '../errors/gatewayError.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/arguments.ts';
import type { JsonObject, UpstreamResponse } from '../upstream/upstream.ts';
import { MAX_CHECKED_OUTPUT_LENGTH } from './store.ts';

/**
 * A tool that says what its results look like is held to it: whoever builds on the block builds on that. A tool that failed
 * says so and promises nothing. What is too large or too deep to be checked is refused: nobody vouched for it.
 */
export function requireOutput(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  outputSchema: JsonObject | undefined,
  { result }: UpstreamResponse,
): void {
  if (outputSchema === undefined || result['isError'] === true) return;
  const { structuredContent } = result;
  if (structuredContent === undefined) {
    const message = 'The tool declares an output schema, but the result has no structured content.';
    throw createOutputError([{ path: 'structuredContent', code: 'missing', message }]);
  }
  const errors = validator.validate(tool, outputSchema, structuredContent, MAX_CHECKED_OUTPUT_LENGTH);
  if (errors) throw createOutputError(errors.map((error) => ({ ...error, ...toOutputDiagnostic(error) })));
}

/** The words are those of arguments; these are none. */
function toOutputDiagnostic({ path, message }: { path: string; message: string }): {
  path: string;
  message: string;
} {
  const replaceSubject = (text: string) =>
    text
      .replace(/^arguments/, 'structuredContent')
      .replace(/^The arguments are/, 'The structured content is');
  return { path: replaceSubject(path), message: replaceSubject(message) };
}

function createOutputError(errors: readonly { path: string; code: string; message: string }[]): GatewayError {
  return new GatewayError('BLOCK_OUTPUT_INVALID', { errors });
}

/** What later steps take from: the structured content, else what the text says as JSON object or list, else the text. */
export function readStepOutput(result: JsonObject): unknown {
  const { structuredContent, content } = result;
  if (structuredContent !== undefined) return structuredContent;
  const texts = (Array.isArray(content) ? content : []).flatMap((item: unknown) => {
    const { type, text } = (item ?? {}) as { type?: unknown; text?: unknown };
    return type === 'text' && typeof text === 'string' ? [text] : [];
  });
  const text = texts.join('\n');
  try {
    const value = JSON.parse(text) as unknown;
    return typeof value === 'object' && value !== null ? value : text;
  } catch {
    return text;
  }
}

const ARRAY_INDEX = /^(0|[1-9][0-9]*)$/;

/** RFC 6901; undefined when nothing stands there. Only what is the document's own: no name leads into what objects inherit. */
export function resolvePointer(document: unknown, pointer: string): unknown {
  let value = document;
  for (const segment of pointer.split('/').slice(1)) {
    const name = segment.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) {
      if (!ARRAY_INDEX.test(name)) return undefined;
      value = value[Number(name)] as unknown;
    } else {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, name)) return undefined;
      value = (value as JsonObject)[name];
    }
  }
  return value;
}
