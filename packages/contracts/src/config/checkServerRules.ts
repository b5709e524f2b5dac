import { createFinding, type Finding, type Path } from './finding.ts';
import { checkHeaderName } from './headerName.ts';
import type { OAuth } from './oauth.ts';
import type { McpServer } from './server.ts';

interface RuleReport {
  errors: Finding[];
  warnings: Finding[];
}

/** Checks rules between the fields of one definition. `checkTextValues` checks texts after variable substitution. */
export function checkServerRules(server: McpServer, path: Path): RuleReport {
  const report: RuleReport = { errors: [], warnings: [] };
  checkOAuth(server, path, report);
  checkAuth(server, path, report);
  checkApiKey(server, path, report);
  if (server.type !== 'stdio') checkHeaders(server.headers, [...path, 'headers'], report);
  checkHeaders(server.oauth_headers, [...path, 'oauth_headers'], report);
  if (server.type === 'sse' || server.type === 'streamable-http') checkOboConflicts(server, path, report);
  if (server.type === 'stdio') checkStdio(server, path, report);
  if (server.type === 'websocket') checkWebsocket(server, path, report);
  return report;
}

function checkOAuth(server: McpServer, path: Path, { errors, warnings }: RuleReport): void {
  const { oauth } = server;
  if (!oauth) return;
  const keyPath = [...path, 'oauth'];
  if (oauth.grant === 'client_credentials') errors.push(...checkClientCredentials(server, oauth, keyPath));
  checkPrivateKey(oauth, keyPath, errors);
  if (oauth.client_secret !== undefined && oauth.client_id === undefined) {
    errors.push(
      createFinding(
        [...keyPath, 'client_secret'],
        'oauth_client',
        'a client secret needs a client_id',
        'add client_id',
      ),
    );
  }
  const isDiscovered = oauth.issuer !== undefined || oauth.grant === 'client_credentials';
  if (oauth.client_secret !== undefined && oauth.client_id !== undefined && !isDiscovered) {
    for (const field of ['authorization_url', 'token_url'] as const) {
      if (oauth[field] === undefined) {
        errors.push(
          createFinding(
            keyPath,
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
      createFinding(
        [...keyPath, 'code_challenge_methods_supported'],
        'pkce',
        'must contain S256, the only method used',
        'add S256, or set skip_code_challenge_check: true',
      ),
    );
  }
  if (oauth.redirect_uri !== undefined) {
    warnings.push(
      createFinding(
        [...keyPath, 'redirect_uri'],
        'ignored',
        'is ignored: the gateway always uses its own callback',
        'remove it',
      ),
    );
  }
}

/** `auth` declares whether users bring a credential. Other fields configure the credential. Both must agree. */
function checkAuth(server: McpServer, path: Path, { errors }: RuleReport): void {
  const { auth, requiresOAuth, oauth, apiKey, customUserVars } = server;
  if (auth === undefined) return;
  const keyPath = [...path, 'auth'];
  const addFinding = (message: string, fix: string) =>
    errors.push(createFinding(keyPath, 'auth', message, fix));
  const hasObo = 'obo' in server && server.obo !== undefined;
  const needsUserValue = apiKey?.source === 'user' || Object.keys(customUserVars ?? {}).length > 0;
  if (
    auth === 'none' &&
    (requiresOAuth === true || (oauth && requiresOAuth !== false) || hasObo || needsUserValue)
  ) {
    addFinding(
      'none contradicts oauth, obo, apiKey and customUserVars, which require a credential',
      'remove auth',
    );
  }
  if (auth === 'optional' && (hasObo || apiKey || needsUserValue)) {
    addFinding('optional is for servers where users sign in (OAuth)', 'remove auth, or write required');
  }
  if (auth !== 'none' && requiresOAuth === false && !hasObo && !needsUserValue) {
    addFinding(`${auth} contradicts requiresOAuth: false`, 'remove one of them');
  }
  if (auth !== 'none' && oauth?.grant === 'client_credentials') {
    addFinding(
      `${auth} asks users for a credential, but client_credentials needs none from users`,
      'remove auth',
    );
  }
  if (auth !== 'none' && server.type === 'stdio' && !needsUserValue) {
    addFinding('requests to a child process cannot carry a token', 'remove auth');
  }
}

/** Client credentials yield one token for all users, so nothing in the definition may depend on the user. */
function checkClientCredentials(server: McpServer, oauth: OAuth, keyPath: Path): Finding[] {
  const problems: Finding[] = [];
  const addFinding = (message: string, fix: string) =>
    problems.push(createFinding(keyPath, 'oauth_grant', message, fix));
  if (server.type === 'stdio') addFinding('requests to a child process cannot carry a token', 'remove oauth');
  if (oauth.client_id === undefined) addFinding('client_credentials needs a client_id', 'add client_id');
  if (oauth.client_secret === undefined && oauth.private_key_file === undefined) {
    addFinding('client_credentials needs a client_secret or a private_key_file', 'add one of them');
  }
  if (server.requiresOAuth === true || server.apiKey !== undefined) {
    addFinding(
      'client_credentials cannot be combined with requiresOAuth: true or apiKey',
      'remove one of them',
    );
  }
  if (Object.keys(server.customUserVars ?? {}).length > 0 || !server.startup) {
    addFinding(
      'client_credentials requires a server that all users share',
      'remove customUserVars and startup: false',
    );
  }
  return problems;
}

function checkPrivateKey(oauth: OAuth, keyPath: Path, errors: Finding[]): void {
  if (oauth.private_key_file !== undefined && oauth.client_secret !== undefined) {
    errors.push(
      createFinding(
        [...keyPath, 'private_key_file'],
        'oauth_client',
        'cannot be combined with client_secret',
        'remove one',
      ),
    );
  }
  if (oauth.private_key_file !== undefined && oauth.client_id === undefined) {
    errors.push(
      createFinding([...keyPath, 'private_key_file'], 'oauth_client', 'needs a client_id', 'add client_id'),
    );
  }
  for (const field of ['private_key_id', 'private_key_alg'] as const) {
    if (oauth[field] !== undefined && oauth.private_key_file === undefined) {
      errors.push(
        createFinding(
          [...keyPath, field],
          'oauth_client',
          'needs a private_key_file',
          'add private_key_file',
        ),
      );
    }
  }
}

function checkApiKey({ apiKey, type }: McpServer, path: Path, { errors, warnings }: RuleReport): void {
  if (!apiKey) return;
  const keyPath = [...path, 'apiKey'];
  if (apiKey.source === 'admin' && apiKey.key === undefined) {
    errors.push(
      createFinding(
        [...keyPath, 'key'],
        'missing',
        'is missing, so no key would be sent',
        'add key: ${NAME}, or source: user',
      ),
    );
  }
  if (apiKey.source === 'user' && apiKey.key !== undefined) {
    errors.push(
      createFinding(
        [...keyPath, 'key'],
        'api_key_source',
        'has no effect with source: user',
        'remove key, or write source: admin',
      ),
    );
  }
  const problem = checkHeaderName(apiKey.custom_header);
  if (problem) errors.push(createFinding([...keyPath, 'custom_header'], 'header_name', problem));
  if (type === 'stdio') {
    warnings.push(
      createFinding(keyPath, 'ignored', 'has no effect on a child process', 'pass the key in env'),
    );
  }
}

function checkHeaders(headers: Record<string, string> | undefined, path: Path, { errors }: RuleReport): void {
  const seen = new Map<string, string>();
  for (const name of Object.keys(headers ?? {})) {
    const problem = checkHeaderName(name);
    if (problem) errors.push(createFinding([...path, name], 'header_name', problem, 'remove it'));
    const duplicate = seen.get(name.toLowerCase());
    // Header names are case-insensitive, so it is undefined which of the two is sent.
    if (duplicate !== undefined)
      errors.push(
        createFinding([...path, name], 'header_twice', `is the same header as "${duplicate}"`, 'remove one'),
      );
    seen.set(name.toLowerCase(), name);
  }
}

type HttpServer = Extract<McpServer, { type: 'sse' | 'streamable-http' }>;

/**
 * With OBO, the exchanged token uses the Authorization header. A second credential could be sent instead of it by
 * mistake.
 */
function checkOboConflicts(server: HttpServer, path: Path, { errors, warnings }: RuleReport): void {
  if (!server.obo) return;
  const message = 'cannot be combined with obo, which supplies the credential';
  if (server.oauth)
    errors.push(createFinding([...path, 'oauth'], 'obo_conflict', message, 'remove oauth or obo'));
  if (server.apiKey)
    errors.push(createFinding([...path, 'apiKey'], 'obo_conflict', message, 'remove apiKey or obo'));
  const header = Object.keys(server.headers ?? {}).find((name) => name.toLowerCase() === 'authorization');
  if (header !== undefined) {
    errors.push(
      createFinding([...path, 'headers', header], 'obo_conflict', message, 'remove the header or obo'),
    );
  }
  if (server.requiresOAuth === true) {
    warnings.push(
      createFinding(
        [...path, 'requiresOAuth'],
        'obo_wins',
        'has no effect together with obo',
        'remove requiresOAuth',
      ),
    );
  }
}

/** A token expires while a socket stays open, and an open socket cannot receive a new token. */
function checkWebsocket(server: McpServer, path: Path, { errors }: RuleReport): void {
  const { oauth, requiresOAuth, auth, apiKey, customUserVars } = server;
  const reason = 'requests over a websocket cannot carry a token';
  const addFinding = (key: string) =>
    errors.push(createFinding([...path, key], 'websocket_oauth', reason, 'remove it'));
  if (oauth) addFinding('oauth');
  if (requiresOAuth === true) addFinding('requiresOAuth');
  const needsUserValue = apiKey?.source === 'user' || Object.keys(customUserVars ?? {}).length > 0;
  if (auth !== undefined && auth !== 'none' && !needsUserValue) addFinding('auth');
}

function checkStdio(server: McpServer, path: Path, { warnings }: RuleReport): void {
  if (server.oauth)
    warnings.push(
      createFinding([...path, 'oauth'], 'ignored', 'has no effect on a child process', 'remove it'),
    );
}
