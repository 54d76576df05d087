// The theme that this browser remembers, before anything is painted. The key is that of ../src/theme.
{
  const theme = localStorage.getItem('theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset['theme'] = theme
}
