import { apiKeyVariable, hasControlCharacter } from '@behalf/contracts';
import {
  type ApiKeySettings,
  type Rendered,
  type ServerSettings,
  type StdioSettings,
  type Template,
  type TemplateValues,
  formatPlaceholder,
  listPlaceholders,
  renderHeader,
  renderTemplate,
  renderUrl,
} from '@behalf/settings';
import type { AppBearer, RemoteTarget, SharedTarget, StdioTarget } from '../upstream/target.ts';
import { type ServerSnapshot, isCredentialHeader } from './definition.ts';

/** The environment variables of the gateway that a child process inherits: enough to find and run programs. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

export interface RenderContext {
  readonly audience: RemoteTarget['audience'];
  /** The environment of the gateway. A child process inherits only the variables in `INHERITED`. */
  readonly inheritedEnv: Readonly<Record<string, string | undefined>>;
}

/** Why a target cannot be rendered. Contains the field and its placeholders, never a value. */
export interface RenderFailure {
  readonly ok: false;
  readonly field: string;
  readonly code: RenderCode;
  readonly placeholders: readonly string[];
}

/** `arg_value`: the program would read the value as an option. `nul_value`: arguments cannot contain NUL. */
type RenderCode = Extract<Rendered, { ok: false }>['code'] | 'arg_value' | 'nul_value';

type RenderedTarget = { readonly ok: true; readonly target: SharedTarget } | RenderFailure;

/** Replaces all placeholders of a definition. If one has no value, there is no target. */
export function renderTarget(
  settings: ServerSettings,
  values: TemplateValues,
  context: RenderContext,
): RenderedTarget {
  try {
    const target =
      settings.type === 'stdio'
        ? renderStdioTarget(settings, values, context)
        : renderRemoteTarget(settings, values, context);
    return { ok: true, target };
  } catch (error) {
    if (error instanceof RenderError) return error.failure;
    throw error;
  }
}

/** Aborts rendering. Caught in `renderTarget`. */
class RenderError extends Error {
  readonly failure: RenderFailure;
  constructor(failure: RenderFailure) {
    super(failure.code);
    this.failure = failure;
  }
}

function requireText(field: string, rendered: Rendered): string {
  if (rendered.ok) return rendered.text;
  throw new RenderError({ ok: false, field, code: rendered.code, placeholders: rendered.placeholders });
}

function failRender(field: string, code: RenderCode, template: Template): never {
  const placeholders = listPlaceholders(template).map(formatPlaceholder);
  throw new RenderError({ ok: false, field, code, placeholders });
}

type RemoteSettings = Exclude<ServerSettings, StdioSettings>;

function renderRemoteTarget(
  settings: RemoteSettings,
  values: TemplateValues,
  { audience }: RenderContext,
): RemoteTarget & { readonly bearer?: AppBearer } {
  const headers = Object.entries(settings.headers).map(
    ([name, template]) =>
      [name.toLowerCase(), renderHeaderText(`headers.${name}`, template, values)] as const,
  );
  // Appended last, so that it replaces a header with the same name.
  if (settings.apiKey) headers.push(renderApiKeyHeader(settings.apiKey, values));
  return Object.freeze({
    type: settings.type,
    url: requireText('url', renderUrl(settings.url, values)),
    headers: Object.freeze(Object.fromEntries(headers)),
    audience,
    proxy: 'proxy' in settings ? settings.proxy : undefined,
    caFile: settings.caFile,
    sseReadTimeoutMs: settings.sseReadTimeout,
  });
}

/** Checks values of the configuration file and the environment too: any line break would allow header injection. */
function renderHeaderText(field: string, template: Template, values: TemplateValues): string {
  const text = requireText(field, renderHeader(template, values));
  if (hasControlCharacter(text) || /[^\u0000-\u00ff]/.test(text)) failRender(field, 'header_value', template);
  return text;
}

const userKeyTemplate: Template = [{ kind: 'userVar', name: apiKeyVariable }];

function renderApiKeyHeader(
  apiKey: ApiKeySettings,
  values: TemplateValues,
): readonly [name: string, value: string] {
  const template = apiKey.source === 'user' ? userKeyTemplate : (apiKey.key ?? userKeyTemplate);
  const field = apiKey.source === 'user' ? apiKeyVariable : 'apiKey.key';
  if (apiKey.authorization_type === 'custom') {
    return [apiKey.custom_header.toLowerCase(), renderHeaderText(field, template, values)];
  }
  if (apiKey.authorization_type === 'bearer') {
    return ['authorization', `Bearer ${renderHeaderText(field, template, values)}`];
  }
  const pair = requireText(field, renderTemplate(template, values));
  // RFC 7617, section 2: user-id and password contain no control characters. A key without a colon is already encoded.
  if (hasControlCharacter(pair)) failRender(field, 'header_value', template);
  const key = pair.includes(':')
    ? Buffer.from(pair, 'utf8').toString('base64')
    : renderHeaderText(field, template, values);
  return ['authorization', `Basic ${key}`];
}

function renderStdioTarget(
  settings: StdioSettings,
  values: TemplateValues,
  { inheritedEnv }: RenderContext,
): StdioTarget {
  const inherited = INHERITED.flatMap((name) => {
    const value = inheritedEnv[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const definedEnv = Object.entries(settings.env).map(
    ([name, template]) => [name, renderProcessText(`env.${name}`, template, values)] as const,
  );
  return Object.freeze({
    type: 'stdio',
    command: settings.command,
    args: Object.freeze(
      settings.args.map((template, index) => renderArgument(`args[${index}]`, template, values)),
    ),
    env: Object.freeze(Object.fromEntries([...inherited, ...definedEnv])),
    cwd: settings.cwd,
    stderr: settings.stderr,
  });
}

/**
 * One template is one argument: no shell parses it, so blanks and quotes are safe. The program reads an argument that
 * starts with a dash as an option, so a value may start with one only after literal text of the operator.
 */
function renderArgument(field: string, template: Template, values: TemplateValues): string {
  const text = renderProcessText(field, template, values);
  const startsWithOperatorText = template[0]?.kind === 'literal' && template[0].text !== '';
  if (!startsWithOperatorText && text.startsWith('-')) failRender(field, 'arg_value', template);
  return text;
}

function renderProcessText(field: string, template: Template, values: TemplateValues): string {
  const text = requireText(field, renderTemplate(template, values));
  if (text.includes('\u0000')) failRender(field, 'nul_value', template);
  return text;
}

/**
 * The definition without credentials: no API key, no header that may authenticate the request, no value of a user.
 * Null if the server cannot be called that way: a process receives its secrets at its start, and a URL with a
 * placeholder is incomplete.
 */
export function withoutCredentials(settings: ServerSettings): ServerSettings | null {
  if (settings.type === 'stdio' || listPlaceholders(settings.url).length > 0) return null;
  const headers = Object.fromEntries(
    Object.entries(settings.headers).filter(
      ([name, value]) => !isCredentialHeader(name, value) && listPlaceholders(value).length === 0,
    ),
  );
  const { apiKey: _key, ...rest } = settings;
  return { ...rest, headers };
}

/**
 * The target of a server as a client without credentials reaches it. Undefined if there is none (see
 * `withoutCredentials`).
 */
export function renderUnauthenticatedTarget({
  settings,
  audience,
}: Pick<ServerSnapshot, 'settings' | 'audience'>): RemoteTarget | undefined {
  const unauthenticated = withoutCredentials(settings);
  const rendered = unauthenticated && renderTarget(unauthenticated, {}, { audience, inheritedEnv: {} });
  return rendered?.ok && rendered.target.type !== 'stdio' ? rendered.target : undefined;
}
