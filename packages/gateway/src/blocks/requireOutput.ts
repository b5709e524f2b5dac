import { LARGEST_CHECKED_OUTPUT } from './limits.ts';
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
    const message = 'The result has no structured content, which the tool promises.';
    throw invalid([{ path: 'structuredContent', code: 'missing', message }]);
  }
  const errors = validator.validate(tool, outputSchema, structuredContent, LARGEST_CHECKED_OUTPUT);
  if (errors) throw invalid(errors.map((each) => ({ ...each, ...inResult(each) })));
}

/** The words are those of arguments; these are none. */
function inResult({ path, message }: { path: string; message: string }): { path: string; message: string } {
  const rename = (text: string) =>
    text
      .replace(/^arguments/, 'structuredContent')
      .replace(/^The arguments are/, 'The structured content is');
  return { path: rename(path), message: rename(message) };
}

function invalid(errors: readonly { path: string; code: string; message: string }[]): GatewayError {
  return new GatewayError('BLOCK_OUTPUT_INVALID', { errors });
}
