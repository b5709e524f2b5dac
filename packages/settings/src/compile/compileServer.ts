import {
  type ApiKey,
  type Finding,
  type McpServer,
  type OAuth,
  type Path,
  type SseServer,
  type StdioServer,
  type StreamableHttpServer,
  type WebsocketServer,
  apiKeyVariable,
  createFinding,
  normalizeServerName,
  oauthUrls,
} from '@behalf/contracts';
import { type Placeholder, type Template, isUserToken, listPlaceholders } from '../template/template.ts';
import type { TextCompiler } from './textCompiler.ts';

type Templates = Readonly<Record<string, Template>>;

/** The fields of `oauth` that may contain placeholders. */
const oauthTexts = [...oauthUrls, 'client_id', 'client_secret', 'scope', 'audience', 'resource'] as const;
type OAuthText = (typeof oauthTexts)[number];

/** `oauth` with its texts as templates. Without `redirect_uri`, because the gateway always uses its own. */
export type OAuthSettings = Readonly<
  Omit<OAuth, OAuthText | 'redirect_uri'> & { [K in OAuthText]?: Template }
>;

export type ApiKeySettings = Readonly<Omit<ApiKey, 'key'> & { key?: Template }>;

interface CompiledFields {
  readonly name: string;
  /** The form of the name that is used in tool names. Unique among the servers of the file. */
  readonly normalizedName: string;
  readonly oauth?: OAuthSettings;
  readonly oauth_headers?: Templates;
  readonly apiKey?: ApiKeySettings;
}

type WithCompiledFields<S> = Readonly<Omit<S, keyof CompiledFields | 'args' | 'env' | 'url' | 'headers'>> &
  CompiledFields;

export type StdioSettings = WithCompiledFields<StdioServer> & {
  readonly args: readonly Template[];
  readonly env: Templates;
};
export type WebsocketSettings = WithCompiledFields<WebsocketServer> & {
  readonly url: Template;
  readonly headers: Templates;
};
export type SseSettings = WithCompiledFields<SseServer> & {
  readonly url: Template;
  readonly headers: Templates;
};
export type StreamableHttpSettings = WithCompiledFields<StreamableHttpServer> & {
  readonly url: Template;
  readonly headers: Templates;
};

/** A server of the file with environment variables substituted and user placeholders kept as templates. */
export type ServerSettings = StdioSettings | WebsocketSettings | SseSettings | StreamableHttpSettings;

/** All placeholders of a server, including those of `apiKey.key`. They decide the server's scope. */
export function collectPlaceholders(server: ServerSettings): Placeholder[] {
  const templates: Template[] = [
    ...(server.type === 'stdio' ? server.args : [server.url]),
    ...Object.values(server.type === 'stdio' ? server.env : server.headers),
    ...Object.values(server.oauth_headers ?? {}),
    ...oauthTexts.flatMap((key) => (server.oauth?.[key] ? [server.oauth[key]] : [])),
    ...(server.apiKey?.key ? [server.apiKey.key] : []),
  ];
  return templates.flatMap((template) => listPlaceholders(template));
}

/** Compiles a validated definition. Problems of its texts are added to `textCompiler.findings`. */
export function compileServer(name: string, server: McpServer, textCompiler: TextCompiler): ServerSettings {
  const path = ['mcpServers', name];
  const declaredVariables = [
    ...Object.keys(server.customUserVars ?? {}),
    ...(server.apiKey?.source === 'user' ? [apiKeyVariable] : []),
  ];
  const template = (text: string, keyPath: Path): Template =>
    textCompiler.compileTemplate(text, keyPath, declaredVariables);
  // Tokens are allowed in headers only: URLs and command lines appear in logs and process lists.
  const tokenFreeTemplate = (text: string, keyPath: Path): Template => {
    const compiledText = template(text, keyPath);
    if (listPlaceholders(compiledText).some(isUserToken)) {
      const message = 'may not contain a token of the user';
      textCompiler.findings.push(createFinding(keyPath, 'placeholder_token', message, 'move it to headers'));
    }
    return compiledText;
  };
  // Checks the position of placeholders in each URL, because each of them receives credentials.
  const urlTemplate = (text: string, keyPath: Path): Template => {
    const compiledUrl = tokenFreeTemplate(text, keyPath);
    const urlFinding = checkUrlPlaceholders(compiledUrl, keyPath);
    if (urlFinding) textCompiler.findings.push(urlFinding);
    return compiledUrl;
  };
  const compileMap = (
    source: Record<string, string> | undefined,
    keyPath: Path,
    compile: CompileText = template,
  ): Record<string, Template> =>
    Object.fromEntries(
      Object.entries(source ?? {}).map(([key, text]) => [key, compile(text, [...keyPath, key])]),
    );

  const { oauth, oauth_headers: oauthHeaders, apiKey, ...uncompiled } = server;
  const compiled = {
    name,
    normalizedName: normalizeServerName(name),
    ...(oauth
      ? {
          oauth: compileOAuth(oauth, [...path, 'oauth'], textCompiler, {
            template: tokenFreeTemplate,
            url: urlTemplate,
          }),
        }
      : {}),
    ...(oauthHeaders
      ? { oauth_headers: compileMap(oauthHeaders, [...path, 'oauth_headers'], tokenFreeTemplate) }
      : {}),
    ...(apiKey ? { apiKey: compileApiKey(apiKey, [...path, 'apiKey'], template) } : {}),
  };
  if (uncompiled.type === 'stdio') {
    return {
      ...uncompiled,
      ...compiled,
      command: textCompiler.compileLiteral(uncompiled.command, [...path, 'command']),
      ...(uncompiled.cwd === undefined
        ? {}
        : { cwd: textCompiler.compileLiteral(uncompiled.cwd, [...path, 'cwd']) }),
      args: uncompiled.args.map((arg, index) => tokenFreeTemplate(arg, [...path, 'args', index])),
      env: compileMap(uncompiled.env, [...path, 'env']),
    };
  }
  const url = urlTemplate(uncompiled.url, [...path, 'url']);
  const remote = {
    ...compiled,
    url,
    headers: compileMap(uncompiled.headers, [...path, 'headers']),
    ...(uncompiled.caFile === undefined
      ? {}
      : { caFile: textCompiler.compileLiteral(uncompiled.caFile, [...path, 'caFile']) }),
  };
  if (uncompiled.type === 'websocket') return { ...uncompiled, ...remote };

  const { obo, proxy } = uncompiled;
  if (obo && listPlaceholders(url).length > 0) {
    // The exchanged token is sent to this URL, so neither a user nor a request may influence it.
    textCompiler.findings.push(
      createFinding(
        [...path, 'url'],
        'obo_url',
        'may not contain a placeholder together with obo',
        'write the full address, or remove obo',
      ),
    );
  }
  const http = {
    ...remote,
    ...(proxy === undefined ? {} : { proxy: textCompiler.compileLiteral(proxy, [...path, 'proxy']) }),
    ...(obo ? { obo: { ...obo, ...compileObo(obo, [...path, 'obo'], textCompiler) } } : {}),
  };
  // Written twice because TypeScript does not narrow a union of spreads.
  return uncompiled.type === 'sse' ? { ...uncompiled, ...http } : { ...uncompiled, ...http };
}

function compileObo(
  obo: { scopes: string; audience?: string | undefined; resource?: string | undefined },
  path: Path,
  textCompiler: TextCompiler,
): { scopes: string; audience?: string; resource?: string } {
  return {
    scopes: textCompiler.compileLiteral(obo.scopes, [...path, 'scopes']),
    ...(obo.audience === undefined
      ? {}
      : { audience: textCompiler.compileLiteral(obo.audience, [...path, 'audience']) }),
    ...(obo.resource === undefined
      ? {}
      : { resource: textCompiler.compileLiteral(obo.resource, [...path, 'resource']) }),
  };
}

type CompileText = (text: string, path: Path) => Template;

function compileOAuth(
  oauth: OAuth,
  path: Path,
  textCompiler: TextCompiler,
  { template, url }: { readonly template: CompileText; readonly url: CompileText },
): OAuthSettings {
  const { redirect_uri: _ignored, ...others } = oauth;
  const rest: Omit<OAuth, OAuthText | 'redirect_uri'> = {
    ...others,
    ...plainOAuth(oauth, path, textCompiler),
  };
  const templates: { [K in OAuthText]?: Template } = {};
  for (const key of oauthTexts) {
    const text = oauth[key];
    const compile = isUrl(key) ? url : template;
    if (text !== undefined) templates[key] = compile(text, [...path, key]);
  }
  return { ...rest, ...templates };
}

/** Neither a user nor a request may influence the authorization server or a file path. */
function plainOAuth(
  oauth: OAuth,
  path: Path,
  textCompiler: TextCompiler,
): Partial<Pick<OAuth, 'issuer' | 'private_key_file' | 'private_key_id'>> {
  return Object.fromEntries(
    (['issuer', 'private_key_file', 'private_key_id'] as const).flatMap((key) => {
      const text = oauth[key];
      return text === undefined ? [] : [[key, textCompiler.compileLiteral(text, [...path, key])]];
    }),
  );
}

function isUrl(key: string): boolean {
  return (oauthUrls as readonly string[]).includes(key);
}

function compileApiKey(
  apiKey: NonNullable<McpServer['apiKey']>,
  path: Path,
  template: CompileText,
): ApiKeySettings {
  const { key, ...rest } = apiKey;
  return key === undefined ? rest : { ...rest, key: template(key, [...path, 'key']) };
}

/**
 * Checks where user values appear in a URL. A value that is the scheme, the port or part of a host label could
 * redirect the operator's headers to another host. A whole host label is allowed; the resolved host must still pass
 * the domain policy.
 */
function checkUrlPlaceholders(template: Template, path: Path): Finding | undefined {
  let prefix = '';
  for (const [index, part] of template.entries()) {
    if (part.kind === 'literal') {
      prefix += part.text;
      continue;
    }
    const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)$/i.exec(prefix);
    const isAfterAuthority = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*[/?#]/i.test(prefix);
    if (!isAfterAuthority) {
      const next = template[index + 1];
      const isWholeLabel =
        authority !== null &&
        /(^|\.)$/.test(authority[1] ?? '') &&
        (next === undefined || (next.kind === 'literal' && /^[./?#:]/.test(next.text)));
      if (!isWholeLabel) {
        return createFinding(
          path,
          'url_authority',
          'a placeholder may not supply the scheme, the port or a part of a host label',
          'write https://host before it, or use the placeholder as a whole label: https://{{NAME}}.example.com',
        );
      }
    }
    prefix += 'x';
  }
  return undefined;
}
