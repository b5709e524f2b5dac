import { toolCallPath } from '../api/tools.ts';

/**
 * The call as a command of a shell. The key is not in it: whoever runs it has it in a variable, and it does not end up in
 * a chat or a history. Everything else stands in single quotes, in which a shell replaces nothing.
 */
export function curlCommand({
  origin,
  server,
  tool,
  args,
}: {
  readonly origin: string;
  readonly server: string;
  readonly tool: string;
  readonly args: Readonly<Record<string, unknown>>;
}): string {
  return [
    `curl ${quoteForShell(origin + toolCallPath(server, tool))}`,
    '-H "Authorization: Bearer $BEHALF_API_KEY"',
    `-H ${quoteForShell('Content-Type: application/json')}`,
    // Not --data: that would read a file where the text begins with @.
    `--data-raw ${quoteForShell(JSON.stringify({ arguments: args }))}`,
  ].join(' \\\n  ');
}

/** One word for a POSIX shell, whatever stands in it. */
function quoteForShell(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
