from django.urls import path

from . import views

urlpatterns = [
    path("webhooks/ads", views.webhook),
    path("ads/<user_id>", views.new_ad),
    path("coins/<user_id>", views.coins),
]
