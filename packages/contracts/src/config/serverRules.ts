import { finding, type Finding, type Path } from './finding.ts';
import { headerNameProblem } from './headerName.ts';
import type { McpServer } from './transports.ts';

export interface RuleReport {
  errors: Finding[];
  warnings: Finding[];
}

/** Rules between the fields of one definition. Texts are looked at by `textRules`, once their variables are known. */
export function serverRules(server: McpServer, path: Path): RuleReport {
  const report: RuleReport = { errors: [], warnings: [] };
  oauthRules(server, path, report);
  apiKeyRules(server, path, report);
  if (server.type !== 'stdio') headerRules(server.headers, [...path, 'headers'], report);
  headerRules(server.oauth_headers, [...path, 'oauth_headers'], report);
  if (server.type === 'sse' || server.type === 'streamable-http') oboRules(server, path, report);
  if (server.type === 'stdio') stdioRules(server, path, report);
  return report;
}

function oauthRules({ oauth }: McpServer, path: Path, { errors, warnings }: RuleReport): void {
  if (!oauth) return;
  const at = [...path, 'oauth'];
  if (oauth.client_secret !== undefined && oauth.client_id === undefined) {
    errors.push(
      finding([...at, 'client_secret'], 'oauth_client', 'a client secret needs a client_id', 'add client_id'),
    );
  }
  if (oauth.client_secret !== undefined && oauth.client_id !== undefined) {
    for (const field of ['authorization_url', 'token_url'] as const) {
      if (oauth[field] === undefined) {
        errors.push(
          finding(
            at,
            'oauth_client',
            'client_id with client_secret needs both authorization_url and token_url',
            `add ${field}`,
          ),
        );
      }
    }
  }
  const methods = oauth.code_challenge_methods_supported;
  if (methods && !methods.includes('S256') && oauth.skip_code_challenge_check !== true) {
    errors.push(
      finding(
        [...at, 'code_challenge_methods_supported'],
        'pkce',
        'must contain S256, the only method used',
        'add S256, or set skip_code_challenge_check: true',
      ),
    );
  }
  if (oauth.redirect_uri !== undefined) {
    warnings.push(
      finding(
        [...at, 'redirect_uri'],
        'ignored',
        'is ignored: the redirect is always our own callback',
        'remove it',
      ),
    );
  }
}

function apiKeyRules({ apiKey, type }: McpServer, path: Path, { errors, warnings }: RuleReport): void {
  if (!apiKey) return;
  const at = [...path, 'apiKey'];
  if (apiKey.source === 'admin' && apiKey.key === undefined) {
    errors.push(
      finding(
        [...at, 'key'],
        'missing',
        'is missing, so no key would be sent',
        'add key: ${NAME}, or source: user',
      ),
    );
  }
  if (apiKey.source === 'user' && apiKey.key !== undefined) {
    errors.push(
      finding(
        [...at, 'key'],
        'api_key_source',
        'has no meaning with source: user',
        'remove key, or write source: admin',
      ),
    );
  }
  const problem = headerNameProblem(apiKey.custom_header);
  if (problem) errors.push(finding([...at, 'custom_header'], 'header_name', problem));
  if (type === 'stdio') {
    warnings.push(finding(at, 'ignored', 'has no effect on a process', 'pass the key in env'));
  }
}

function headerRules(headers: Record<string, string> | undefined, path: Path, { errors }: RuleReport): void {
  const seen = new Map<string, string>();
  for (const name of Object.keys(headers ?? {})) {
    const problem = headerNameProblem(name);
    if (problem) errors.push(finding([...path, name], 'header_name', problem, 'remove it'));
    const twin = seen.get(name.toLowerCase());
    // Header names are case-insensitive: which of the two would be sent is anyone's guess.
    if (twin !== undefined)
      errors.push(finding([...path, name], 'header_twice', `is the same header as "${twin}"`, 'remove one'));
    seen.set(name.toLowerCase(), name);
  }
}

type HttpServer = Extract<McpServer, { type: 'sse' | 'streamable-http' }>;

/** OBO owns the Authorization header. A second credential beside it would be an old header to fall back to. */
function oboRules(server: HttpServer, path: Path, { errors, warnings }: RuleReport): void {
  if (!server.obo) return;
  const clash = 'cannot stand next to obo, which supplies the credential';
  if (server.oauth) errors.push(finding([...path, 'oauth'], 'obo_conflict', clash, 'remove oauth or obo'));
  if (server.apiKey) errors.push(finding([...path, 'apiKey'], 'obo_conflict', clash, 'remove apiKey or obo'));
  const header = Object.keys(server.headers ?? {}).find((name) => name.toLowerCase() === 'authorization');
  if (header !== undefined) {
    errors.push(finding([...path, 'headers', header], 'obo_conflict', clash, 'remove the header or obo'));
  }
  if (server.requiresOAuth === true) {
    warnings.push(
      finding([...path, 'requiresOAuth'], 'obo_wins', 'has no effect next to obo', 'remove requiresOAuth'),
    );
  }
}

function stdioRules(server: McpServer, path: Path, { warnings }: RuleReport): void {
  if (server.oauth)
    warnings.push(finding([...path, 'oauth'], 'ignored', 'has no effect on a process', 'remove it'));
}
