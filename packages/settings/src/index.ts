export { builtInSettings } from './buildSettings.ts';
export { compileDefinition, type CompiledDefinition } from './buildSettings.ts';
export type { EndpointSettings } from './compile/compileEndpoints.ts';
export type { ProviderSettings } from './compile/textCompiler.ts';
export {
  collectPlaceholders,
  type ApiKeySettings,
  type OAuthSettings,
  type ServerSettings,
  type SseSettings,
  type StdioSettings,
  type StreamableHttpSettings,
  type WebsocketSettings,
} from './compile/compileServer.ts';
export { mergeEnvFile } from './loadSettings.ts';
export { formatDiagnostics } from './loadSettings.ts';
export { loadSettings, type SettingsResult } from './loadSettings.ts';
export type { KnownLogin } from './obo/login.ts';
export {
  readGraphScopes,
  isMicrosoftAuthority,
  LOGIN_PROVIDER,
  readLoginProviderInfo,
  findMicrosoftCloud,
  type LoginProviderInfo,
} from './obo/login.ts';
export { isLoginProvider } from './obo/login.ts';
export { NO_PROVIDER, checkOboTarget, type OboAuthority, type OboProblem } from './obo/checkOboTarget.ts';
export { allowsPlainHttp, isUnencryptedRemote } from './obo/plainHttp.ts';
export { maskAddress } from './redact/maskText.ts';
export type { Settings } from './buildSettings.ts';
export { bodyFields, openidFields, userFields } from './template/template.ts';
export { parseTemplate, type ParsedTemplate, type TemplateProblem } from './template/template.ts';
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
