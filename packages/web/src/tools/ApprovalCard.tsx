import { useState } from 'react';
import { ApprovalQuestion } from '../call/ApprovalQuestion.tsx';
import { strings } from '../strings/strings.ts';
import { runs } from './pageRuns.ts';
import type { Run } from './run.ts';

/** The question of a tool that asks first, about a run. */
export function ApprovalCard({ run }: { readonly run: Run }) {
  const { id, tool, toolTitle, server, serverTitle, args, approval, decisionError, isDeciding = false } = run;
  const [answer, setAnswer] = useState<'approve' | 'deny'>('approve');
  return (
    <ApprovalQuestion
      key={approval?.id}
      {...{ tool, toolTitle, server, serverTitle, args }}
      expiresAt={approval?.expiresAt}
      deciding={isDeciding ? answer : undefined}
      error={decisionError}
      advice={strings.tools.run.askAnew}
      onDecide={(approve) => {
        setAnswer(approve ? 'approve' : 'deny');
        void runs.decide(id, approve);
      }}
    />
  );
}
