import { useSyncExternalStore } from 'react';

export const themes = ['system', 'light', 'dark'] as const;
type Theme = (typeof themes)[number];

const KEY = 'behalf.theme';
const listeners = new Set<() => void>();
const darkQuery = window.matchMedia('(prefers-color-scheme: dark)');

function readStoredTheme(): Theme {
  try {
    const value = localStorage.getItem(KEY);
    return themes.find((theme) => theme === value) ?? 'system';
  } catch {
    // Storage can be disabled. The system theme applies then.
    return 'system';
  }
}

let currentTheme = readStoredTheme();

/** Applies the theme. Called before the first render to prevent a flash of the wrong theme. */
export function applyTheme(): void {
  const isDark = currentTheme === 'dark' || (currentTheme === 'system' && darkQuery.matches);
  document.documentElement.dataset['theme'] = isDark ? 'dark' : 'light';
}

darkQuery.addEventListener('change', applyTheme);

export function setTheme(theme: Theme): void {
  currentTheme = theme;
  try {
    localStorage.setItem(KEY, theme);
  } catch {
    // Without storage the choice lasts until the page closes.
  }
  applyTheme();
  for (const listener of listeners) listener();
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => currentTheme,
  );
}
