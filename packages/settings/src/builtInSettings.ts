import { buildSettings } from './buildSettings.ts';
import type { Settings } from './settings.ts';

/**
 * What runs when there is no file: the reference server, so that there are tools in the first minute. One of its tools
 * fetches URLs from a list of domains in its environment; a name that never resolves (RFC 6761) leaves it none.
 */
export function builtInSettings(everything: { command: string; args: readonly string[] }): Settings {
  const { settings, errors } = buildSettings(
    {
      mcpServers: {
        everything: {
          title: 'Everything',
          description: 'The reference MCP server, to try things with.',
          command: '${BUILT_IN_COMMAND}',
          args: everything.args.map((_, index) => `\${BUILT_IN_ARG_${index}-}`),
          env: { GZIP_ALLOWED_DOMAINS: 'invalid' },
        },
      },
    },
    // Passed as values, so that a path that holds ${ or {{ stays a path.
    {
      BUILT_IN_COMMAND: everything.command,
      ...Object.fromEntries(everything.args.map((arg, index) => [`BUILT_IN_ARG_${index}`, arg])),
    },
  );
  if (!settings)
    throw new Error(
      `The built-in configuration is not valid: ${errors.map((error) => error.message).join('; ')}`,
    );
  return settings;
}
