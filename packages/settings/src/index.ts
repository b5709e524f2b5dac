export { builtInSettings } from './builtInSettings.ts';
export { compileDefinition, type CompiledDefinition } from './compileDefinition.ts';
export type { EndpointSettings } from './compile/compileEndpoints.ts';
export type { ProviderSettings } from './compile/compileProviders.ts';
export {
  placeholdersOf,
  type ApiKeySettings,
  type OAuthSettings,
  type ServerSettings,
  type SseSettings,
  type StdioSettings,
  type StreamableHttpSettings,
  type WebsocketSettings,
} from './compile/serverSettings.ts';
export { withEnvFile } from './envFile.ts';
export { explain } from './explain.ts';
export { loadSettings, type LoadResult } from './loadSettings.ts';
export type { KnownLogin } from './obo/exchangeAt.ts';
export {
  graphScopes,
  isMicrosoftAuthority,
  LOGIN,
  loginFacts,
  microsoftCloud,
  type LoginFacts,
} from './obo/login.ts';
export { isAtLogin } from './obo/loginPlace.ts';
export { NO_PROVIDER, oboTargetProblem, type OboAuthority, type OboProblem } from './obo/oboTargetProblem.ts';
export { declaresPlainHttp, isReadable } from './obo/plainHttp.ts';
export { maskAddress } from './redact/maskAddress.ts';
export type { Settings } from './settings.ts';
export { bodyFields, openidFields, userFields } from './template/fields.ts';
export { parseTemplate, type ParsedTemplate, type TemplateProblem } from './template/parseTemplate.ts';
export {
  renderHeader,
  renderTemplate,
  renderUrl,
  type Rendered,
  type TemplateValues,
} from './template/renderTemplate.ts';
export { resolveEnv, type EnvProblem, type EnvRecord, type ResolvedTemplate } from './template/resolveEnv.ts';
export {
  isToken,
  literalText,
  placeholdersIn,
  placeholderText,
  type EnvReference,
  type Literal,
  type Placeholder,
  type PlaceholderKind,
  type RawTemplate,
  type Template,
} from './template/template.ts';
