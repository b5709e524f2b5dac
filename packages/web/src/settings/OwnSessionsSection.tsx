import type { SessionView } from '@behalf/contracts';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { endOwnSession, ownSessionsQuery } from '../api/account.ts';
import { clearBehalfStorage } from '../app/clearBehalfStorage.ts';
import { strings } from '../strings/strings.ts';
import { ConfirmDialog } from '../ui/ConfirmDialog.tsx';
import { ErrorNotice } from '../ui/Notice.tsx';
import { Skeleton } from '../ui/Skeleton.tsx';
import { showToast } from '../ui/toasts.ts';
import { SessionList } from './SessionList.tsx';
import { SettingsSection } from './SettingsSection.tsx';

/** Where the person is signed in. The one in use is ended only after asking: it signs them out here. */
export function OwnSessionsSection() {
  const { sessions } = strings.settings;
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(ownSessionsQuery);
  const [sessionToConfirm, setSessionToConfirm] = useState<SessionView | null>(null);
  const endMutation = useMutation({
    mutationFn: ({ id }: SessionView) => endOwnSession(id),
    onSuccess: (_result, { current }) => {
      if (!current) {
        showToast('success', sessions.ended);
        return;
      }
      clearBehalfStorage();
      location.assign('/');
    },
    // Also after a failure: one that is not found has ended elsewhere.
    onSettled: (_result, _error, { current }) =>
      current ? undefined : queryClient.invalidateQueries({ queryKey: ownSessionsQuery.queryKey }),
  });
  return (
    <SettingsSection title={sessions.title} lead={sessions.lead}>
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {endMutation.error && !sessionToConfirm && <ErrorNotice error={endMutation.error} />}
      {!data && !error && <Skeleton lines={3} />}
      {data && (
        <SessionList
          sessions={data}
          endingId={endMutation.isPending ? endMutation.variables.id : undefined}
          onEnd={(session) => (session.current ? setSessionToConfirm(session) : endMutation.mutate(session))}
        />
      )}
      {sessionToConfirm && (
        <ConfirmDialog
          title={sessions.endOwnTitle}
          confirm={sessions.end}
          isBusy={endMutation.isPending}
          error={endMutation.error}
          onConfirm={() => endMutation.mutate(sessionToConfirm)}
          onClose={() => setSessionToConfirm(null)}
        >
          {sessions.endOwnText}
        </ConfirmDialog>
      )}
    </SettingsSection>
  );
}
