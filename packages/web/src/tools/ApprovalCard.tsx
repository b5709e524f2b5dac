import { useState } from 'react';
import { ApprovalRequest } from '../call/ApprovalRequest.tsx';
import { strings } from '../strings/strings.ts';
import { runs } from './pageRuns.ts';
import type { Run } from './run.ts';

/** The question of a tool that asks first, about a run. */
export function ApprovalCard({ run }: { readonly run: Run }) {
  const { id, tool, toolTitle, server, serverTitle, args, approval, decisionError, isDeciding = false } = run;
  const [decision, setDecision] = useState<'approve' | 'deny'>('approve');
  return (
    <ApprovalRequest
      key={approval?.id}
      {...{ tool, toolTitle, server, serverTitle, args }}
      expiresAt={approval?.expiresAt}
      pendingDecision={isDeciding ? decision : undefined}
      error={decisionError}
      advice={strings.tools.run.requestAgain}
      onDecide={(approve) => {
        setDecision(approve ? 'approve' : 'deny');
        void runs.decide(id, approve);
      }}
    />
  );
}
