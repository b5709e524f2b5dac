import { didYouMean } from './didYouMean.ts';
import { finding, type Finding, type Path } from './finding.ts';
import type { Transport } from './transports.ts';

const types = ['stdio', 'websocket', 'sse', 'streamable-http', 'http'] as const;
export const processFields = ['command', 'args', 'env', 'cwd', 'stderr'] as const;

export type Inferred = { transport: Transport; warnings: Finding[] } | { findings: Finding[] };

/**
 * Which transport a definition means. A written `type` decides; without one the choice is LibreChat's, so that an
 * existing file keeps its meaning: `command` is stdio, a ws(s) URL a websocket, any other URL SSE.
 */
export function inferTransport(
  server: Record<string, unknown>,
  url: string | undefined,
  path: Path,
): Inferred {
  const { type } = server;
  const findings: Finding[] = [];
  if (type !== undefined && !(types as readonly unknown[]).includes(type)) {
    const near = typeof type === 'string' ? didYouMean(type, types) : undefined;
    findings.push(
      finding(
        [...path, 'type'],
        'wrong_value',
        `must be one of ${types.map((t) => `"${t}"`).join(', ')}`,
        near,
      ),
    );
    return { findings };
  }
  const process = processFields.filter((field) => Object.hasOwn(server, field));
  const hasUrl = Object.hasOwn(server, 'url');
  if (hasUrl && process.length > 0) {
    return {
      findings: process.map((field) =>
        finding(
          [...path, field],
          'process_field_with_url',
          'belongs to a process and cannot stand next to url',
          `remove ${field} or url`,
        ),
      ),
    };
  }
  const transport = type === 'http' ? 'streamable-http' : (type as Transport | undefined);
  if (transport === 'stdio' && hasUrl) {
    return {
      findings: [
        finding(
          [...path, 'url'],
          'url_on_stdio',
          'a stdio server has a command, not a url',
          'write type: streamable-http, or command',
        ),
      ],
    };
  }
  if (transport !== undefined && transport !== 'stdio' && process.length > 0) {
    return {
      findings: process.map((field) =>
        finding(
          [...path, field],
          'process_field_with_url',
          `belongs to a process, but type is "${String(type)}"`,
          'write type: stdio, or url',
        ),
      ),
    };
  }
  if (transport !== undefined) return { transport, warnings: [] };
  if (process.length > 0) return { transport: 'stdio', warnings: [] };
  if (!hasUrl) {
    return {
      findings: [
        finding(
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
      finding(
        [...path, 'url'],
        'type_inferred',
        'a url without type means the old sse transport',
        'write type: streamable-http, or type: sse if it is meant',
      ),
    ],
  };
}
