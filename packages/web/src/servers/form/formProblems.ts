import type { ServerView } from '@behalf/contracts';
import { parseUrl } from '@behalf/contracts/plain';
import { ApiError } from '../../api/request.ts';
import { diagnosticText, explainError } from '../../api/explain.ts';
import { strings } from '../../strings/strings.ts';
import { keepsStoredKey, type ServerForm, type ServerTransport } from './serverForm.ts';

/** Errors by field: `url`, `apiKey.key`, `headers.X-Key`. */
export type FieldProblems = Readonly<Record<string, string>>;

interface FormProblems {
  readonly fields: FieldProblems;
  /** Errors without a field. */
  readonly others: readonly string[];
}

/** Validates the form before it is sent. */
export function validateForm(form: ServerForm, before: ServerView | undefined): FieldProblems {
  const { problems } = strings.servers.form;
  const { auth, apiKey, headers } = form;
  const found: Record<string, string> = {};
  const requireValue = (path: string, value: string, problem: string) => {
    if (value.trim() === '') found[path] = problem;
  };
  // The name of a new server is derived from its title.
  if (!before) requireValue('title', form.title, problems.title);
  const urlProblem = validateUrl(form.url, form.type);
  if (urlProblem !== undefined) found['url'] = urlProblem;
  if (auth === 'apiKey') {
    if (apiKey.source === 'admin' && !keepsStoredKey(form, before))
      requireValue('apiKey.key', apiKey.key, problems.key);
    if (apiKey.form === 'custom')
      requireValue('apiKey.custom_header', apiKey.customHeader, problems.customHeader);
  }
  if (auth === 'obo') requireValue('obo.scopes', form.oboScopes, problems.oboScopes);
  const seen = new Set<string>();
  for (const { id, name, value } of form.replacesHeaders ? headers : []) {
    const normalized = name.trim().toLowerCase();
    if (normalized === '' && value !== '') found[rowPath(id)] = problems.headerName;
    else if (normalized !== '' && seen.has(normalized)) found[rowPath(id)] = problems.headerTwice;
    seen.add(normalized);
  }
  return found;
}

/** The error of a URL field; undefined if the URL has the right scheme. Placeholders are filled in by the gateway. */
export function validateUrl(url: string, type: ServerTransport): string | undefined {
  const { problems } = strings.servers.form;
  if (url.trim() === '') return problems.url;
  const schemes = type === 'websocket' ? ['ws:', 'wss:'] : ['http:', 'https:'];
  const text = url.trim();
  const isValid =
    text.startsWith('{{') ||
    schemes.includes(parseUrl(text.replaceAll(/\{\{[^{}]*\}\}/g, 'x'))?.protocol ?? '');
  if (isValid) return undefined;
  return type === 'websocket' ? problems.urlInvalidWebsocket : problems.urlInvalid;
}

/** The field of a header whose name is empty or not unique. */
export function rowPath(id: number): string {
  return `headers#${id}`;
}

const topLevelFields = ['title', 'description', 'type', 'url', 'headers'];
const sectionFields: Readonly<Record<string, readonly string[]>> = {
  apiKey: ['source', 'authorization_type', 'custom_header', 'key'],
  oauth: [
    'client_id',
    'client_secret',
    'authorization_url',
    'token_url',
    'revocation_endpoint',
    'scope',
    'token_exchange_method',
  ],
  obo: ['scopes'],
};

/** Maps a path of the gateway to a field; undefined if there is none. */
export function fieldOfPath(path: string): string | undefined {
  const [root, key, inner] = parsePath(path);
  if (root !== 'config' || key === undefined) return undefined;
  if (key === 'headers' && inner !== undefined) return `headers.${inner.toLowerCase()}`;
  if (topLevelFields.includes(key)) return key;
  const allowed = sectionFields[key];
  if (!allowed) return undefined;
  if (inner === undefined) return 'auth';
  return allowed.includes(inner) ? `${key}.${inner}` : undefined;
}

/** Splits a path such as `config.headers["X Key"]`. */
export function parsePath(path: string): string[] {
  const step = /\.?([A-Za-z0-9_-]+)|\[("(?:[^"\\]|\\.)*"|\d+)\]/gy;
  return [...path.matchAll(step)].map(([, name, quoted = '""']) => name ?? String(JSON.parse(quoted)));
}

/** Assigns errors of the gateway to fields. */
export function toFormProblems(
  error: unknown,
  form: ServerForm,
  before: ServerView | undefined,
): FormProblems {
  if (!(error instanceof ApiError)) return { fields: {}, others: [] };
  if (isSecretReentry(error)) return { fields: reentryProblems(error, form, before), others: [] };
  if (error.code === 'MCP_DOMAIN_NOT_ALLOWED') {
    const { title, text } = explainError(error);
    return { fields: { url: `${title}. ${text}` }, others: [] };
  }
  const fields: Record<string, string> = {};
  const others: string[] = [];
  for (const problem of error.errors) {
    const field = fieldOfPath(problem.path);
    const text = diagnosticText(problem);
    if (field === undefined) others.push(strings.servers.form.otherField(problem.path, text));
    else fields[field] = fields[field] === undefined ? text : `${fields[field]} ${text}`;
  }
  return { fields, others };
}

function isSecretReentry({ code }: ApiError): boolean {
  return code === 'MCP_SECRET_REENTRY_REQUIRED' || code === 'MCP_OAUTH_SECRET_REENTRY_REQUIRED';
}

/**
 * Shows the error at the secret that must be entered again, not at the changed field. A key is bound to everything
 * that headers are bound to, so if both are kept, the key is requested first.
 */
function reentryProblems(error: ApiError, form: ServerForm, before: ServerView | undefined): FieldProblems {
  const { reenterSecret, reenterHeaders } = strings.servers.form;
  const changed = fieldNames(error.problem?.changedFields ?? []);
  if (error.code === 'MCP_OAUTH_SECRET_REENTRY_REQUIRED')
    return { 'oauth.client_secret': reenterSecret(changed) };
  return keepsStoredKey(form, before)
    ? { 'apiKey.key': reenterSecret(changed) }
    : { headers: reenterHeaders(changed) };
}

function fieldNames(paths: readonly string[]): string {
  const { form } = strings.servers;
  const names: Readonly<Record<string, string>> = {
    type: form.transport,
    url: form.url,
    'apiKey.source': form.keySource,
    'apiKey.authorization_type': form.keyForm,
    'apiKey.custom_header': form.customHeader,
    'oauth.client_id': form.clientId,
    'oauth.authorization_url': form.authorizationUrl,
    'oauth.token_url': form.tokenUrl,
    'oauth.revocation_endpoint': form.revocationUrl,
    'oauth.token_exchange_method': form.exchangeMethod,
  };
  const normalized = paths.flatMap((path) => (names[path] === undefined ? [] : [`“${names[path]}”`]));
  return normalized.length > 0 ? normalized.join(form.and) : form.destination;
}
