export { builtInSettings } from './builtInSettings.ts';
export { compileDefinition, type CompiledDefinition } from './compileDefinition.ts';
export type { EndpointSettings } from './compile/compileEndpoints.ts';
export type { ProviderSettings } from './compile/compileProviders.ts';
export {
  collectPlaceholders,
  type ApiKeySettings,
  type OAuthSettings,
  type ServerSettings,
  type SseSettings,
  type StdioSettings,
  type StreamableHttpSettings,
  type WebsocketSettings,
} from './compile/serverSettings.ts';
export { mergeEnvFile } from './mergeEnvFile.ts';
export { formatDiagnostics } from './formatDiagnostics.ts';
export { loadSettings, type SettingsResult } from './loadSettings.ts';
export type { KnownLogin } from './obo/resolveProvider.ts';
export {
  readGraphScopes,
  isMicrosoftAuthority,
  LOGIN_PROVIDER,
  readLoginProviderInfo,
  findMicrosoftCloud,
  type LoginProviderInfo,
} from './obo/login.ts';
export { isLoginProvider } from './obo/isLoginProvider.ts';
export { NO_PROVIDER, checkOboTarget, type OboAuthority, type OboProblem } from './obo/checkOboTarget.ts';
export { allowsPlainHttp, isUnencryptedRemote } from './obo/plainHttp.ts';
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
  isUserToken,
  readLiteralText,
  listPlaceholders,
  formatPlaceholder,
  type EnvReference,
  type Literal,
  type Placeholder,
  type PlaceholderKind,
  type RawTemplate,
  type Template,
} from './template/template.ts';
