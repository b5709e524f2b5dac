import type { ServerSettings } from '@behalf/settings';
import { matchesGlob } from '../policy/matchesGlob.ts';

/**
 * Whether the definition lets this tool exist here. Asked when tools are listed and again when one is called: a name
 * that is hidden can still be guessed. A tool whose annotations are not known is not read-only.
 */
export function isToolAllowed({ tools }: ServerSettings, name: string, isReadOnly: boolean): boolean {
  if (!tools) return true;
  if (tools.exclude?.some((glob) => matchesGlob(glob, name))) return false;
  if (tools.include && !tools.include.some((glob) => matchesGlob(glob, name))) return false;
  return isReadOnly || !tools.readOnlyOnly;
}
