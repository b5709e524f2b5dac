import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { configQuery, reloadConfiguration } from '../../api/admin.ts';
import { ApiError } from '../../api/request.ts';
import { useUser } from '../../api/user.ts';
import { strings } from '../../strings/strings.ts';
import { Button } from '../../ui/Button.tsx';
import { Card } from '../../ui/Card.tsx';
import { EmptyState } from '../../ui/EmptyState.tsx';
import { Icon } from '../../ui/Icon.tsx';
import { ErrorNotice, Notice } from '../../ui/Notice.tsx';
import { Page } from '../../ui/Page.tsx';
import { Skeleton } from '../../ui/Skeleton.tsx';
import { showToast } from '../../ui/Toasts.tsx';
import styles from './ConfigPanel.module.css';
import { toConfigNode } from './configNode.ts';
import { ConfigTree } from './ConfigTree.tsx';
import { ConfigFindings } from './ConfigFindings.tsx';
import { EnvironmentTable } from './EnvironmentTable.tsx';

/** Active configuration and its sources. Only for operators, because it concerns all tenants. */
export function ConfigPanel() {
  const { config } = strings.admin;
  const isOperator = useUser()?.isOperator ?? false;
  if (isOperator) return <ActiveConfig />;
  return (
    <Page title={config.title}>
      <EmptyState icon="shield" title={config.forbiddenTitle}>
        {config.forbiddenText}
      </EmptyState>
    </Page>
  );
}

function ActiveConfig() {
  const { config } = strings.admin;
  const queryClient = useQueryClient();
  const { data, error, refetch } = useQuery(configQuery);
  const reloadMutation = useMutation({
    mutationFn: reloadConfiguration,
    onSuccess: () => {
      showToast('success', config.reloaded, config.reloadedText);
      // A reload can change servers, roles and models.
      return queryClient.invalidateQueries();
    },
  });
  const configErrors =
    reloadMutation.error instanceof ApiError && reloadMutation.error.code === 'CONFIG_INVALID'
      ? reloadMutation.error.errors
      : undefined;
  const node = data && toConfigNode(data.config);
  return (
    <Page
      title={config.title}
      isWide
      lead={data?.file === null ? config.builtIn : config.fromFile(data?.file ?? strings.admin.pending)}
      actions={
        <Button
          icon={<Icon name="refresh" />}
          isBusy={reloadMutation.isPending}
          onClick={() => reloadMutation.mutate()}
        >
          {config.reload}
        </Button>
      }
    >
      {configErrors ? (
        <Notice tone="danger" title={config.reloadFailedTitle}>
          <p>{config.reloadFailedText}</p>
          <ConfigFindings findings={configErrors} />
        </Notice>
      ) : (
        reloadMutation.error && <ErrorNotice error={reloadMutation.error} />
      )}
      {error && <ErrorNotice error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Skeleton lines={14} />}
      {data && data.warnings.length > 0 && (
        <Notice tone="warning" title={config.warnings(data.warnings.length)}>
          <ConfigFindings findings={data.warnings} />
        </Notice>
      )}
      {node && (
        <Card className={styles['card']}>
          <h2>{config.activeConfig}</h2>
          <p className={styles['hint']}>{config.documentHint}</p>
          {node.kind === 'branch' ? <ConfigTree node={node} /> : <p>{config.emptyFile}</p>}
        </Card>
      )}
      {data && (
        <Card className={styles['card']}>
          <h2>{config.environment}</h2>
          <p className={styles['hint']}>{config.environmentHint}</p>
          <EnvironmentTable variables={data.environment} />
        </Card>
      )}
    </Page>
  );
}
