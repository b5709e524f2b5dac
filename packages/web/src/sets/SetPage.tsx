import type { SetView } from '@behalf/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { encodeSegment } from '../api/request.ts';
import { isForbidden } from '../api/servers.ts';
import { deleteSet, invalidateSets, isSetNotFound, removeCachedSet, setQuery } from '../api/sets.ts';
import page from '../blocks/page/BlockPage.module.css';
import { ResourceActions } from '../servers/sharing/ResourceActions.tsx';
import { strings } from '../strings/strings.ts';
import { Page } from '../ui/Page.tsx';
import { UnavailablePage } from '../ui/UnavailablePage.tsx';
import { SetRunner } from './run/SetRunner.tsx';

/** A set: run it, and view its runs. */
export function SetPage({ id }: { readonly id: string }) {
  const query = useQuery(setQuery(id));
  const { data: set, error } = query;
  const isNotFound = isSetNotFound(error);
  if (set && !isNotFound && !isForbidden(error)) return <SetDetails key={id} set={set} />;
  return (
    <UnavailablePage
      title={strings.sets.title}
      texts={strings.sets}
      listPath="/sets"
      isNotFound={isNotFound}
      query={query}
      skeletonLines={8}
    />
  );
}

function SetDetails({ set }: { readonly set: SetView }) {
  return (
    <Page title={set.title} lead={set.description} actions={<SetActions set={set} />}>
      <p className={page['back']}>
        <Link href="/sets">{strings.sets.back}</Link>
      </p>
      <SetRunner set={set} />
    </Page>
  );
}

function SetActions({ set: { id, title, permissions } }: { readonly set: SetView }) {
  return (
    <ResourceActions
      resource={{ kind: 'set', id }}
      title={title}
      permissions={permissions}
      canChange
      texts={strings.sets}
      edit={`/sets/${encodeSegment(id)}/edit`}
      onShared={invalidateSets}
      deletion={{
        deleteResource: () => deleteSet(id),
        removeCached: (queryClient) => removeCachedSet(queryClient, id),
        nextPath: '/sets',
      }}
    />
  );
}
