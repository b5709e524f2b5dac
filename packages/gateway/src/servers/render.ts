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
import { isCredentialHeader } from './definition.ts';

/** What a child process gets of our environment unless its definition says otherwise: enough to find and run programs. */
const INHERITED = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TZ'];

export interface RenderContext {
  readonly audience: RemoteTarget['audience'];
  /** Our own environment. Of it a child process gets a handful of names, whatever else is in there. */
  readonly inheritedEnv: Readonly<Record<string, string | undefined>>;
}

/** Why a target cannot be rendered: which field, and which placeholders in it. Never a value. */
export interface RenderFailure {
  readonly ok: false;
  readonly field: string;
  readonly code: RenderCode;
  readonly placeholders: readonly string[];
}

/** `arg_value`: would be read as an option of the program. `nul_value`: no process can be given it. */
type RenderCode = Extract<Rendered, { ok: false }>['code'] | 'arg_value' | 'nul_value';

type RenderedTarget = { readonly ok: true; readonly target: SharedTarget } | RenderFailure;

/** Fills the placeholders of a definition in: all of them, or there is no target and nothing can be sent. */
export function renderTarget(
  settings: ServerSettings,
  values: TemplateValues,
  context: RenderContext,
): RenderedTarget {
  try {
    const target =
      settings.type === 'stdio'
        ? stdioTarget(settings, values, context)
        : remoteTarget(settings, values, context);
    return { ok: true, target };
  } catch (error) {
    if (error instanceof RenderError) return error.failure;
    throw error;
  }
}

/** Ends rendering from wherever it stands; never leaves this file. */
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

function remoteTarget(
  settings: RemoteSettings,
  values: TemplateValues,
  { audience }: RenderContext,
): RemoteTarget & { readonly bearer?: AppBearer } {
  const headers = Object.entries(settings.headers).map(
    ([name, template]) => [name.toLowerCase(), headerText(`headers.${name}`, template, values)] as const,
  );
  // Last, so that it replaces a header of the same name.
  if (settings.apiKey) headers.push(apiKeyHeader(settings.apiKey, values));
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

/** Also what came from the file or the environment: a line break there smuggles as well as a user's. */
function headerText(field: string, template: Template, values: TemplateValues): string {
  const text = requireText(field, renderHeader(template, values));
  if (hasControlCharacter(text) || /[^\u0000-\u00ff]/.test(text)) failRender(field, 'header_value', template);
  return text;
}

const userKeyTemplate: Template = [{ kind: 'userVar', name: apiKeyVariable }];

function apiKeyHeader(
  apiKey: ApiKeySettings,
  values: TemplateValues,
): readonly [name: string, value: string] {
  const template = apiKey.source === 'user' ? userKeyTemplate : (apiKey.key ?? userKeyTemplate);
  const field = apiKey.source === 'user' ? apiKeyVariable : 'apiKey.key';
  if (apiKey.authorization_type === 'custom') {
    return [apiKey.custom_header.toLowerCase(), headerText(field, template, values)];
  }
  if (apiKey.authorization_type === 'bearer') {
    return ['authorization', `Bearer ${headerText(field, template, values)}`];
  }
  const pair = requireText(field, renderTemplate(template, values));
  // RFC 7617 section 2: neither part holds control characters. A key without a colon is encoded already.
  if (hasControlCharacter(pair)) failRender(field, 'header_value', template);
  const key = pair.includes(':')
    ? Buffer.from(pair, 'utf8').toString('base64')
    : headerText(field, template, values);
  return ['authorization', `Basic ${key}`];
}

function stdioTarget(
  settings: StdioSettings,
  values: TemplateValues,
  { inheritedEnv }: RenderContext,
): StdioTarget {
  const inherited = INHERITED.flatMap((name) => {
    const value = inheritedEnv[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  const definedEnv = Object.entries(settings.env).map(
    ([name, template]) => [name, processText(`env.${name}`, template, values)] as const,
  );
  return Object.freeze({
    type: 'stdio',
    command: settings.command,
    args: Object.freeze(settings.args.map((template, index) => argument(`args[${index}]`, template, values))),
    env: Object.freeze(Object.fromEntries([...inherited, ...definedEnv])),
    cwd: settings.cwd,
    stderr: settings.stderr,
  });
}

/**
 * One template is one argument, whatever blanks or quotes a value holds: no shell reads it. But the program itself
 * reads what begins with a dash as an option, so a value may stand there only behind text of the operator.
 */
function argument(field: string, template: Template, values: TemplateValues): string {
  const text = processText(field, template, values);
  const startsWithOperatorText = template[0]?.kind === 'literal' && template[0].text !== '';
  if (!startsWithOperatorText && text.startsWith('-')) failRender(field, 'arg_value', template);
  return text;
}

function processText(field: string, template: Template, values: TemplateValues): string {
  const text = requireText(field, renderTemplate(template, values));
  if (text.includes('\u0000')) failRender(field, 'nul_value', template);
  return text;
}

/**
 * The definition without anything that could identify or authorise anybody: no Authorization, no key header, no value
 * of a user. Null when it cannot be reached that way: a process starts with its secrets, and a URL that names the user
 * leads nowhere without them.
 */
export function withoutCredentials(settings: ServerSettings): ServerSettings | null {
  if (settings.type === 'stdio' || listPlaceholders(settings.url).length > 0) return null;
  const headers = Object.fromEntries(
    Object.entries(settings.headers).filter(
      ([name, value]) => !isCredentialHeader(name, value) && hasNoPlaceholders(value),
    ),
  );
  const { apiKey: _key, ...rest } = settings;
  return { ...rest, headers };
}

function hasNoPlaceholders(template: Template): boolean {
  return listPlaceholders(template).length === 0;
}
