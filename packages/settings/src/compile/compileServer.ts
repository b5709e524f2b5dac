import {
  apiKeyVariable,
  createFinding,
  normalizeServerName,
  oauthUrls,
  type McpServer,
  type OAuth,
  type Path,
} from '@behalf/contracts';
import { isUserToken, listPlaceholders, type Template } from '../template/template.ts';
import {
  oauthTexts,
  type ApiKeySettings,
  type OAuthSettings,
  type OAuthText,
  type ServerSettings,
} from './serverSettings.ts';
import type { TextCompiler } from './textCompiler.ts';
import { checkUrlPlaceholders } from './checkUrlPlaceholders.ts';

/** From a checked definition to templates. What is wrong with its texts is added to `texts.findings`. */
export function compileServer(name: string, server: McpServer, textCompiler: TextCompiler): ServerSettings {
  const path = ['mcpServers', name];
  const declaredVariables = [
    ...Object.keys(server.customUserVars ?? {}),
    ...(server.apiKey?.source === 'user' ? [apiKeyVariable] : []),
  ];
  const template = (text: string, keyPath: Path): Template =>
    textCompiler.compileTemplate(text, keyPath, declaredVariables);
  // A token belongs where headers go: addresses and command lines stand in logs and process lists.
  const tokenFreeTemplate = (text: string, keyPath: Path): Template => {
    const compiledText = template(text, keyPath);
    if (listPlaceholders(compiledText).some(isUserToken)) {
      const message = 'may not contain a token of the user';
      textCompiler.findings.push(createFinding(keyPath, 'placeholder_token', message, 'move it to headers'));
    }
    return compiledText;
  };
  // The place of a placeholder is checked in every URL: credentials go to each of them.
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
    // The exchanged token goes where the URL says; a value of a user or a request must have no say in that.
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
  // Written twice because a union of spreads does not narrow by itself.
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

/** Which authorization server, and which file of this machine: no user and no request has a say in either. */
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
