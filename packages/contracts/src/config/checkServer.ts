import { checkServerRules } from './checkServerRules.ts';
import { didYouMean } from './didYouMean.ts';
import { type Finding, type Path, createFinding } from './finding.ts';
import { oauthUrls } from './oauth.ts';
import { type KeyReport, checkKeys, isMapping, parseSection } from './section.ts';
import { type McpServer, type Transport, transportSchemas } from './server.ts';
import { parseUrl } from './url.ts';

export interface ServerCheck {
  /** Present if the definition is valid. */
  server?: McpServer;
  errors: Finding[];
  /** Separate from errors, because `unknownKeys: warn` turns them into warnings. */
  unknown: Finding[];
  warnings: Finding[];
  unused: ReadonlySet<string>;
}

/** Checks one definition: infers its transport and validates it. */
export function checkServer(value: unknown, path: Path, expand: ExpandText = (text) => text): ServerCheck {
  const keys: KeyReport = { unknown: [], unused: new Set() };
  const result: ServerCheck = { errors: [], unknown: keys.unknown, warnings: [], unused: keys.unused };
  if (!isMapping(value)) {
    result.errors.push(
      createFinding(path, 'wrong_type', 'must be a mapping', 'write url: or command: below it'),
    );
    return result;
  }
  const url = typeof value.url === 'string' ? expand(value.url) : undefined;
  const inferred = inferTransport(value, url, path);
  if ('findings' in inferred) {
    result.errors.push(...inferred.findings);
    return result;
  }
  const { transport } = inferred;
  result.warnings.push(...inferred.warnings);
  checkKeys(transportSchemas[transport], value, path, keys);
  const [misplaced, unknown] = splitUnknownKeys(keys.unknown, path, transport);
  result.errors.push(...misplaced);
  result.unknown = unknown;

  const parsed = parseSection(transportSchemas[transport], value, path);
  if ('findings' in parsed) {
    result.errors.push(...parsed.findings);
    return result;
  }
  const server: McpServer = parsed.value;
  const rules = checkServerRules(server, path);
  result.errors.push(...rules.errors, ...checkTextValues(server, path, expand));
  result.warnings.push(...rules.warnings);
  if (result.errors.length === 0) result.server = server;
  return result;
}

const allKeys = new Set(Object.values(transportSchemas).flatMap((schema) => Object.keys(schema.shape)));

/** Separates keys of another transport: they are errors even with `unknownKeys: warn`. */
function splitUnknownKeys(
  unknown: readonly Finding[],
  path: Path,
  transport: Transport,
): [Finding[], Finding[]] {
  const misplaced: Finding[] = [];
  const rest: Finding[] = [];
  for (const item of unknown) {
    const key = item.path.at(-1);
    if (item.path.length !== path.length + 1 || typeof key !== 'string' || !allKeys.has(key)) rest.push(item);
    else if (key === 'obo') misplaced.push(createOboFinding(item.path, transport));
    else
      misplaced.push(
        createFinding(item.path, 'misplaced_key', `is not supported on a ${transport} server`, 'remove it'),
      );
  }
  return [misplaced, rest];
}

function createOboFinding(path: Path, transport: Transport): Finding {
  return createFinding(
    path,
    'obo_transport',
    `On-Behalf-Of is not possible on a ${transport} server: its requests cannot carry the user's token`,
    'use a url with type "streamable-http" or "sse", or remove obo',
  );
}

const transportTypes = ['stdio', 'websocket', 'sse', 'streamable-http', 'http'] as const;
const processFields = ['command', 'args', 'env', 'cwd', 'stderr'] as const;

type TransportResult = { transport: Transport; warnings: Finding[] } | { findings: Finding[] };

/**
 * Infers the transport. An explicit `type` decides. Without it, the rules of LibreChat apply: `command` means
 * stdio, a ws(s) URL a WebSocket, any other URL SSE.
 */
function inferTransport(
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

/**
 * Returns a text with variables substituted; undefined if that is not possible, which is reported elsewhere. Values
 * of users are replaced by a valid sample.
 */
export type ExpandText = (text: string) => string | undefined;

/** Checks URLs and header values after variable substitution. */
function checkTextValues(server: McpServer, path: Path, expand: ExpandText): Finding[] {
  const findings: Finding[] = [];
  const checkUrl = (value: string | undefined, keyPath: Path, schemes: readonly string[]): void => {
    const text = value === undefined ? undefined : expand(value);
    if (text === undefined) return;
    const problem = checkUrlText(text, schemes);
    if (problem) findings.push(createFinding(keyPath, 'url', problem));
  };
  if (server.type !== 'stdio') {
    checkUrl(
      server.url,
      [...path, 'url'],
      server.type === 'websocket' ? ['ws:', 'wss:'] : ['http:', 'https:'],
    );
    findings.push(...checkHeaderValues(server.headers, [...path, 'headers'], expand));
  }
  if (server.type === 'sse' || server.type === 'streamable-http') {
    const proxy = server.proxy === undefined ? undefined : expand(server.proxy);
    // A proxy URL may contain credentials. It is stored encrypted and never shown.
    if (proxy !== undefined) {
      const problem = checkUrlText(proxy, ['http:', 'https:', 'socks:', 'socks5:'], true);
      if (problem) findings.push(createFinding([...path, 'proxy'], 'url', problem));
    }
  }
  const { oauth } = server;
  for (const field of [...oauthUrls, 'redirect_uri', 'issuer'] as const) {
    checkUrl(oauth?.[field], [...path, 'oauth', field], ['http:', 'https:']);
  }
  findings.push(...checkHeaderValues(server.oauth_headers, [...path, 'oauth_headers'], expand));
  return findings;
}

export function checkUrlText(
  text: string,
  schemes: readonly string[],
  allowsCredentials = false,
): string | undefined {
  const list = schemes.map((scheme) => `${scheme}//`).join(' or ');
  const url = parseUrl(text);
  if (!url) return `is not a URL beginning with ${list}`;
  if (!schemes.includes(url.protocol)) return `must begin with ${list}`;
  if (url.hostname === '') return 'has no host';
  if (!allowsCredentials && (url.username !== '' || url.password !== '')) {
    return 'may not contain a user name or password: use headers or apiKey';
  }
  return undefined;
}

function checkHeaderValues(
  headers: Record<string, string> | undefined,
  path: Path,
  expand: ExpandText,
): Finding[] {
  return Object.entries(headers ?? {}).flatMap(([name, value]) => {
    const text = expand(value);
    return text !== undefined && hasControlCharacter(text)
      ? [
          createFinding(
            [...path, name],
            'header_value',
            'contains a line break or another control character',
            'write it on one line',
          ),
        ]
      : [];
  });
}

/** A line break in a header value would inject another header (RFC 9110 section 5.5). */
export function hasControlCharacter(text: string): boolean {
  return /[\u0000-\u0008\u000a-\u001f\u007f]/.test(text);
}
