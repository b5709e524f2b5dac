import { finding, type Finding, type Path } from './finding.ts';
import { headerNameProblem } from './headerName.ts';
import type { OAuth } from './oauth.ts';
import type { McpServer } from './transports.ts';

export interface RuleReport {
  errors: Finding[];
  warnings: Finding[];
}

/** Rules between the fields of one definition. Texts are looked at by `textRules`, once their variables are known. */
export function serverRules(server: McpServer, path: Path): RuleReport {
  const report: RuleReport = { errors: [], warnings: [] };
  oauthRules(server, path, report);
  authRules(server, path, report);
  apiKeyRules(server, path, report);
  if (server.type !== 'stdio') headerRules(server.headers, [...path, 'headers'], report);
  headerRules(server.oauth_headers, [...path, 'oauth_headers'], report);
  if (server.type === 'sse' || server.type === 'streamable-http') oboRules(server, path, report);
  if (server.type === 'stdio') stdioRules(server, path, report);
  if (server.type === 'websocket') websocketRules(server, path, report);
  return report;
}

function oauthRules(server: McpServer, path: Path, { errors, warnings }: RuleReport): void {
  const { oauth } = server;
  if (!oauth) return;
  const at = [...path, 'oauth'];
  if (oauth.grant === 'client_credentials') errors.push(...ownGrantProblems(server, oauth, at));
  keyRules(oauth, at, errors);
  if (oauth.client_secret !== undefined && oauth.client_id === undefined) {
    errors.push(
      finding([...at, 'client_secret'], 'oauth_client', 'a client secret needs a client_id', 'add client_id'),
    );
  }
  const isDiscovered = oauth.issuer !== undefined || oauth.grant === 'client_credentials';
  if (oauth.client_secret !== undefined && oauth.client_id !== undefined && !isDiscovered) {
    for (const field of ['authorization_url', 'token_url'] as const) {
      if (oauth[field] === undefined) {
        errors.push(
          finding(
            at,
            'oauth_client',
            'client_id with client_secret needs both authorization_url and token_url, or the issuer',
            `add ${field}, or issuer`,
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

/** `auth` says whether users bring a credential; what they bring is said elsewhere, and the two must agree. */
function authRules(server: McpServer, path: Path, { errors }: RuleReport): void {
  const { auth, requiresOAuth, oauth, apiKey, customUserVars } = server;
  if (auth === undefined) return;
  const at = [...path, 'auth'];
  const add = (message: string, fix: string) => errors.push(finding(at, 'auth', message, fix));
  const hasObo = 'obo' in server && server.obo !== undefined;
  const ofUser = apiKey?.source === 'user' || Object.keys(customUserVars ?? {}).length > 0;
  if (auth === 'none' && (requiresOAuth === true || (oauth && requiresOAuth !== false) || hasObo || ofUser)) {
    add('none contradicts oauth, obo, apiKey and customUserVars, which ask for a credential', 'remove auth');
  }
  if (auth === 'optional' && (hasObo || apiKey || ofUser)) {
    add('optional is for servers where users sign in (OAuth)', 'remove auth, or write required');
  }
  if (auth !== 'none' && requiresOAuth === false && !hasObo && !ofUser) {
    add(`${auth} contradicts requiresOAuth: false`, 'remove one of them');
  }
  if (auth !== 'none' && oauth?.grant === 'client_credentials') {
    add(`${auth} asks users for a credential, and client_credentials needs none of them`, 'remove auth');
  }
  if (auth !== 'none' && server.type === 'stdio' && !ofUser) {
    add('a process has no requests that could carry a token', 'remove auth');
  }
}

/** A token of ours, for everybody: nothing in it may depend on who calls. */
function ownGrantProblems(server: McpServer, oauth: OAuth, at: Path): Finding[] {
  const problems: Finding[] = [];
  const add = (message: string, fix: string) => problems.push(finding(at, 'oauth_grant', message, fix));
  if (server.type === 'stdio') add('a process has no requests that could carry a token', 'remove oauth');
  if (oauth.client_id === undefined) add('client_credentials needs a client_id', 'add client_id');
  if (oauth.client_secret === undefined && oauth.private_key_file === undefined) {
    add('client_credentials needs a client_secret or a private_key_file', 'add one of them');
  }
  if (server.requiresOAuth === true || server.apiKey !== undefined) {
    add('client_credentials cannot stand next to requiresOAuth: true or apiKey', 'remove one of them');
  }
  if (Object.keys(server.customUserVars ?? {}).length > 0 || !server.startup) {
    add(
      'client_credentials is for a server that everybody shares',
      'remove customUserVars and startup: false',
    );
  }
  return problems;
}

function keyRules(oauth: OAuth, at: Path, errors: Finding[]): void {
  if (oauth.private_key_file !== undefined && oauth.client_secret !== undefined) {
    errors.push(
      finding(
        [...at, 'private_key_file'],
        'oauth_client',
        'cannot stand next to client_secret',
        'remove one',
      ),
    );
  }
  if (oauth.private_key_file !== undefined && oauth.client_id === undefined) {
    errors.push(finding([...at, 'private_key_file'], 'oauth_client', 'needs a client_id', 'add client_id'));
  }
  for (const field of ['private_key_id', 'private_key_alg'] as const) {
    if (oauth[field] !== undefined && oauth.private_key_file === undefined) {
      errors.push(
        finding([...at, field], 'oauth_client', 'needs a private_key_file', 'add private_key_file'),
      );
    }
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

/** A token ends while a socket stays open, and no request on it could carry the next one. */
function websocketRules(server: McpServer, path: Path, { errors }: RuleReport): void {
  const { oauth, requiresOAuth, auth, apiKey, customUserVars } = server;
  const reason = 'a websocket has no requests that could carry a token';
  const add = (key: string) => errors.push(finding([...path, key], 'websocket_oauth', reason, 'remove it'));
  if (oauth) add('oauth');
  if (requiresOAuth === true) add('requiresOAuth');
  const ofUser = apiKey?.source === 'user' || Object.keys(customUserVars ?? {}).length > 0;
  if (auth !== undefined && auth !== 'none' && !ofUser) add('auth');
}

function stdioRules(server: McpServer, path: Path, { warnings }: RuleReport): void {
  if (server.oauth)
    warnings.push(finding([...path, 'oauth'], 'ignored', 'has no effect on a process', 'remove it'));
}
