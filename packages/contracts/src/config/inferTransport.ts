import { didYouMean } from './didYouMean.ts';
import { createFinding, type Finding, type Path } from './finding.ts';
import type { Transport } from './transports.ts';

const transportTypes = ['stdio', 'websocket', 'sse', 'streamable-http', 'http'] as const;
export const processFields = ['command', 'args', 'env', 'cwd', 'stderr'] as const;

export type TransportResult = { transport: Transport; warnings: Finding[] } | { findings: Finding[] };

/**
 * Which transport a definition means. A written `type` decides; without one the choice is LibreChat's, so that an
 * existing file keeps its meaning: `command` is stdio, a ws(s) URL a websocket, any other URL SSE.
 */
export function inferTransport(
  server: Record<string, unknown>,
  url: string | undefined,
  path: Path,
): TransportResult {
  const { type } = server;
  const findings: Finding[] = [];
  if (type !== undefined && !(transportTypes as readonly unknown[]).includes(type)) {
    const suggestion = typeof type === 'string' ? didYouMean(type, transportTypes) : undefined;
    findings.push(
      createFinding(
        [...path, 'type'],
        'wrong_value',
        `must be one of ${transportTypes.map((t) => `"${t}"`).join(', ')}`,
        suggestion,
      ),
    );
    return { findings };
  }
  const presentProcessFields = processFields.filter((field) => Object.hasOwn(server, field));
  const hasUrl = Object.hasOwn(server, 'url');
  if (hasUrl && presentProcessFields.length > 0) {
    return {
      findings: presentProcessFields.map((field) =>
        createFinding(
          [...path, field],
          'process_field_with_url',
          'is for a child process and cannot be combined with url',
          `remove ${field} or url`,
        ),
      ),
    };
  }
  const transport = type === 'http' ? 'streamable-http' : (type as Transport | undefined);
  if (transport === 'stdio' && hasUrl) {
    return {
      findings: [
        createFinding(
          [...path, 'url'],
          'url_on_stdio',
          'a stdio server has a command, not a url',
          'write type: streamable-http, or replace url with command',
        ),
      ],
    };
  }
  if (transport !== undefined && transport !== 'stdio' && presentProcessFields.length > 0) {
    return {
      findings: presentProcessFields.map((field) =>
        createFinding(
          [...path, field],
          'process_field_with_url',
          `is for a child process, but type is "${String(type)}"`,
          `write type: stdio, or replace ${field} with url`,
        ),
      ),
    };
  }
  if (transport !== undefined) return { transport, warnings: [] };
  if (presentProcessFields.length > 0) return { transport: 'stdio', warnings: [] };
  if (!hasUrl) {
    return {
      findings: [
        createFinding(
          path,
          'missing',
          'needs a url or a command',
          'add url and type: streamable-http, or command and args',
        ),
      ],
    };
  }
  if (url !== undefined && /^wss?:/i.test(url)) return { transport: 'websocket', warnings: [] };
  return {
    transport: 'sse',
    warnings: [
      createFinding(
        [...path, 'url'],
        'type_inferred',
        'a url without type selects the deprecated sse transport',
        'write type: streamable-http, or type: sse to keep the sse transport',
      ),
    ],
  };
}
