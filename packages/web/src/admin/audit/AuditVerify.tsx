import type { AuditVerifyView } from '@behalf/contracts';
import { useMutation } from '@tanstack/react-query';
import { verifyAudit } from '../../api/admin.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { formatNumber } from '../formatNumber.ts';
import styles from './AuditVerify.module.css';

/** As many as one reads; all of them are in the gateway's answer. */
const MAX_LISTED = 50;

/** Checks the chains of the log, and says in words what was found. */
export function AuditVerify() {
  const { audit } = strings.admin;
  const verifyMutation = useMutation({ mutationFn: verifyAudit });
  return (
    <div className={styles['verify']}>
      <div className={styles['ask']}>
        <Button
          icon={<Icon name="shield" />}
          isBusy={verifyMutation.isPending}
          onClick={() => verifyMutation.mutate()}
        >
          {audit.verify}
        </Button>
        <p className={styles['hint']}>{verifyMutation.isPending ? audit.verifying : audit.verifyHint}</p>
      </div>
      {verifyMutation.error && <ErrorNotice error={verifyMutation.error} />}
      {verifyMutation.data && <VerifyReport report={verifyMutation.data} />}
    </div>
  );
}

function VerifyReport({ report }: { readonly report: AuditVerifyView }) {
  const { audit } = strings.admin;
  const { ok, problems, more } = report;
  const [events, segments, writers] = [report.events, report.segments, report.writers].map(formatNumber);
  const summary = audit.verified(events ?? '', segments ?? '', writers ?? '');
  if (ok) {
    return (
      <Notice tone="success" title={audit.verifiedTitle}>
        {summary}
      </Notice>
    );
  }
  const unlisted = more + Math.max(0, problems.length - MAX_LISTED);
  return (
    <Notice tone="danger" title={audit.brokenTitle}>
      <p>{summary}</p>
      <ul className={styles['problems']}>
        {problems.slice(0, MAX_LISTED).map(({ writer, seq, through, problem }) => (
          <li key={`${writer} ${seq} ${problem}`}>
            {audit.problems[problem]} <code>{audit.segmentRange(writer, seq, through)}</code>
          </li>
        ))}
      </ul>
      {unlisted > 0 && <p>{audit.moreProblems(formatNumber(unlisted))}</p>}
    </Notice>
  );
}
