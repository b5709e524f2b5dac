import { lazy } from 'react';

/** Loaded when somebody goes there; the chat is what the first load is for. */
export const ToolsPage = lazy(() => import('../tools/ToolsPage.tsx').then((m) => ({ default: m.ToolsPage })));
export const ServersPage = lazy(() =>
  import('../servers/ServersPage.tsx').then((m) => ({ default: m.ServersPage })),
);
export const ServerPage = lazy(() =>
  import('../servers/ServerPage.tsx').then((m) => ({ default: m.ServerPage })),
);
export const BlocksPage = lazy(() =>
  import('../blocks/BlocksPage.tsx').then((m) => ({ default: m.BlocksPage })),
);
export const BlockPage = lazy(() =>
  import('../blocks/BlockPage.tsx').then((m) => ({ default: m.BlockPage })),
);
export const NewBlockPage = lazy(() =>
  import('../blocks/edit/NewBlockPage.tsx').then((m) => ({ default: m.NewBlockPage })),
);
export const EditBlockPage = lazy(() =>
  import('../blocks/edit/EditBlockPage.tsx').then((m) => ({ default: m.EditBlockPage })),
);
export const SetsPage = lazy(() => import('../sets/SetsPage.tsx').then((m) => ({ default: m.SetsPage })));
export const SetPage = lazy(() => import('../sets/SetPage.tsx').then((m) => ({ default: m.SetPage })));
export const SetEditPage = lazy(() =>
  import('../sets/edit/SetEditPage.tsx').then((m) => ({ default: m.SetEditPage })),
);
export const SettingsPage = lazy(() =>
  import('../settings/SettingsPage.tsx').then((m) => ({ default: m.SettingsPage })),
);
export const AdminPage = lazy(() => import('../admin/AdminPage.tsx').then((m) => ({ default: m.AdminPage })));
