import { MAX_CHECKED_OUTPUT_LENGTH } from './limits.ts';
import { GatewayError } from '../errors/gatewayError.ts';
import type { UpstreamResponse, JsonObject } from '../upstream/upstream.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/validateArguments.ts';

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
