import { callTones } from '../call/callTones.ts';
import { strings } from '../strings/strings.ts';
import { Badge } from '../ui/Badge.tsx';
import type { RunState } from './run.ts';

export function RunBadge({ state }: { readonly state: RunState }) {
  return <Badge tone={callTones[state]}>{strings.tools.run.states[state]}</Badge>;
}
