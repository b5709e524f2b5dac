import { finding } from '@behalf/contracts';
import { compileDefinition, type CompiledDefinition, type EnvRecord } from '@behalf/settings';

/** An administrator's change to a server of the file, for one tenant; or a server that only this tenant has. */
export interface ServerOverride {
  readonly tenant: string;
  readonly name: string;
  /** As in the file, but only what differs. */
  readonly definition: unknown;
}

/**
 * The definition of the file with an override laid over it: mappings are merged key by key, `null` removes a key,
 * anything else is replaced. Neither input is changed.
 */
export function mergeDefinition(base: unknown, override: unknown): unknown {
  if (!isMapping(base) || !isMapping(override)) return override;
  const merged = new Map(Object.entries(base));
  for (const [key, value] of Object.entries(override)) {
    if (value === null) merged.delete(key);
    else merged.set(key, mergeDefinition(merged.get(key), value));
  }
  return Object.fromEntries(merged);
}

/** What changes neither where a call leads, nor with which credential, nor who may make it, nor what it may do. */
const harmless: ReadonlySet<string> = new Set([
  'title',
  'description',
  'iconPath',
  'chatMenu',
  'timeout',
  'initTimeout',
  'sseReadTimeout',
  'era',
]);

/**
 * Whether the base may serve in place of an override that is wrong or fails. Only where that takes nothing back: behind
 * an override that was to narrow the tools, ask for a sign-in or lead elsewhere, the base would be wider than meant. A
 * key that nobody knows may have been meant so.
 */
export function mayStepBack({ definition }: ServerOverride): boolean {
  return isMapping(definition) && Object.keys(definition).every((key) => harmless.has(key));
}

/** `base` is the plain definition of the file, or undefined where the file has none. */
export function compileOverride(
  { name, definition }: ServerOverride,
  base: unknown,
  env: EnvRecord,
): CompiledDefinition {
  const compiled = compileDefinition(name, mergeDefinition(base, definition), { env });
  if (!compiled.ok || compiled.server.type !== 'stdio') return compiled;
  // Which programs run on this machine is said in the file, by whoever may write there, and nowhere else.
  return {
    ok: false,
    errors: [finding(['mcpServers', name], 'operator_only', 'an override cannot start or change a process')],
  };
}

function isMapping(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
