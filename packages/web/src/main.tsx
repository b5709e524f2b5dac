import { createRoot } from 'react-dom/client';
import { userQuery } from './api/user.ts';
import { App } from './app/App.tsx';
import { queryClient } from './app/queryClient.ts';
import { restoreHash } from './app/userSession.ts';
import { applyTheme } from './hooks/useTheme.ts';

applyTheme();
restoreHash();
// Prefetch: the request runs while the first page renders.
queryClient.query(userQuery).catch(() => undefined);

const root = document.getElementById('root');
if (!root) throw new Error('The page has no root');
createRoot(root).render(<App />);
