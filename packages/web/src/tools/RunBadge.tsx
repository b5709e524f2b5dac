import { callTones } from '../call/callTones.ts';
import { Badge } from '../ui/Badge.tsx';
import type { Run } from './run.ts';
import { runStateText } from './runStateText.ts';

export function RunBadge({ run }: { readonly run: Run }) {
  return <Badge tone={callTones[run.state]}>{runStateText(run)}</Badge>;
}
