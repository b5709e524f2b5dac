import { GatewayError } from '../errors/gatewayError.ts';
import type { Answer, Json } from '../upstream/upstream.ts';
import { measureArguments } from '../toolcall/schema/measureArguments.ts';
import type { ArgumentValidator, ToolIdentity } from '../toolcall/validateArguments.ts';

/**
 * A tool that says what its results look like is held to it: whoever builds on the block builds on that. A tool that failed
 * says so and promises nothing; what is too large to be checked safely is passed on as it came.
 */
export function requireOutput(
  validator: ArgumentValidator,
  tool: ToolIdentity,
  outputSchema: Json | undefined,
  { result }: Answer,
): void {
  if (outputSchema === undefined || result['isError'] === true) return;
  const { structuredContent } = result;
  if (structuredContent === undefined) {
    const message = 'The result has no structured content, which the tool promises.';
    throw invalid([{ path: 'structuredContent', code: 'missing', message }]);
  }
  if (measureArguments(structuredContent)) return;
  const errors = validator.validate(tool, outputSchema, structuredContent);
  if (errors) throw invalid(errors.map((each) => ({ ...each, ...inResult(each) })));
}

/** The words are those of arguments; these are none. */
function inResult({ path, message }: { path: string; message: string }): { path: string; message: string } {
  const rename = (text: string) => text.replace(/^arguments/, 'structuredContent');
  return { path: rename(path), message: rename(message) };
}

function invalid(errors: readonly { path: string; code: string; message: string }[]): GatewayError {
  return new GatewayError('BLOCK_OUTPUT_INVALID', { errors });
}
